import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Artifact } from '../../src/chain/artifacts';
import { type Bug, findInModule, withBug } from '../faults/planted-program';
import { patchedScripts } from '../store/fuzzing/scripts';
import { ROOT } from '../support/processes';
import { openStage, type PlantedWorld, startPlantedWorld } from './planted-stage';
import { STORIES } from './planted-stories';
import { DOMAIN_NAME } from './world';

const { compileSources } = require('../../scripts/contracts.js') as {
  readonly compileSources: (sources: object, names: readonly string[]) => ReadonlyMap<string, Artifact>;
};

/**
 * Proves that the checker of funds on a chain can fail: each of these bugs, planted in a copy of the build or in the contract, is
 * found from outside by its own check, in a story in which the right build has none. A patch that finds no place fails here, too:
 * give it a new anchor.
 */
interface Planted extends Bug {
  readonly story: keyof typeof STORIES;
  /** A change of contracts/MarketExchange.sol. */
  readonly contract?: { readonly from: string; readonly to: string };
  readonly caughtBy: RegExp;
}

const BUGS: Readonly<Record<string, Planted>> = {
  'a credit counts at the head': {
    story: 'calm',
    modules: [{ file: 'chain/blocks.js', from: 'newest("finalized")', to: 'newest("latest")' }],
    caughtBy: /^C4: .* is shown as of block/,
  },
  'a match is released with the numbers of the block before': {
    story: 'calm',
    modules: [
      {
        file: 'jobs/chain/observation.js',
        from: 'await read(to, queries)',
        to: 'await read(final ?? to, queries)',
      },
    ],
    caughtBy: /^C4: .* where the chain has/,
  },
  'decimals of 6 are taken for 18': {
    story: 'calm',
    modules: [
      {
        file: 'store/chain/readings.js',
        from: 'amount / scale.microAmount',
        to: 'amount / (scale.microAmount / 10n ** 12n)',
      },
    ],
    caughtBy: /^C1: the total collateral/,
  },
  'the allowance is ignored': {
    story: 'calm',
    chainLua: [
      {
        file: 'lib/ledger.lua',
        from: 'return math.min(balance, cash[ledger.ALLOWANCE]), balance',
        to: 'return balance, balance',
      },
    ],
    // The order ends when the head is read.
    caughtBy: /^C4: the order .* was cancelled for want of funds|^C1: the available collateral/,
  },
  'less is held than the contract takes': {
    story: 'twice',
    chainLua: [
      {
        file: 'lib/ledger.lua',
        from: 'and lots * price or value',
        to: 'and lots * price or math.floor(value / 2)',
      },
    ],
    caughtBy: /^C3: .* which has done nothing of the kind/,
  },
  'a stuck match gets a new nonce': {
    story: 'stuck',
    modules: [
      {
        file: 'jobs/chain/open-transactions.js',
        from: 'nonce: one.nonce, call, fee',
        to: 'nonce: one.nonce + 1, call, fee',
      },
    ],
    caughtBy: /^C6: /,
  },
  'a match fails after some time': {
    story: 'stuck',
    modules: [
      {
        file: 'jobs/chain/open-transactions.js',
        from: /const isOld = .*;/,
        to: 'const isOld = one.sentAt !== null && head - one.sentAt >= RAISE_AFTER_BLOCKS; if (isOld) for (const match of one.matches) await parts.fail(match, { wallet: "", reason: "UNKNOWN" }, head);',
      },
    ],
    chainLua: [
      {
        file: 'void_settlement.lua',
        from: 'record[settlements.STATUS] == settlements.SUBMITTED',
        to: 'false',
      },
    ],
    caughtBy: /^C3: .* is FAILED, and .* settled it/,
  },
  'events are asked for by the numbers of blocks': {
    story: 'lateEvents',
    modules: [
      { file: 'chain/exchange-events.js', from: 'async at({ hash })', to: 'async at({ hash, number })' },
      {
        file: 'chain/exchange-events.js',
        from: '{ blockHash: hash,',
        to: '{ fromBlock: "0x" + number.toString(16), toBlock: "0x" + number.toString(16),',
      },
    ],
    caughtBy: /^C3: /,
  },
  'the parent of a block is not looked at': {
    story: 'otherBranch',
    modules: [
      {
        file: 'chain/blocks.js',
        from: 'block === null || block.parentHash !== parent.hash',
        to: 'block === null',
      },
    ],
    caughtBy: /^C3: /,
  },
  'the head counts with the own fills': {
    story: 'ownFills',
    modules: [
      {
        file: 'jobs/chain/observation.js',
        from: /\(reading\) => \(0, import_exposure\.without\)\([^\n]*\)/,
        to: '(reading) => reading',
      },
    ],
    caughtBy: /^C4: the order .* was cancelled for want of funds/,
  },
  'an expired order is a strike': {
    story: 'expired',
    chainLua: [
      {
        file: 'lib/finality.lua',
        from: "if wallet == '' or reason < 1 or reason > finality.REFUSED then",
        to: "if reason == 9 then\n    standing.strike(shard, found[1].wallet, name, reason, now_ms)\n  end\n  if wallet == '' or reason < 1 or reason > finality.REFUSED then",
      },
    ],
    caughtBy: /^C3: .* has 1 strikes for 0 failures/,
  },
  'a pause of the collateral is looked for in a later block than the failure': {
    story: 'pausing',
    modules: [
      { file: 'jobs/chain/lane.js', from: 'isCollateralStuck(at)', to: 'isCollateralStuck("latest")' },
    ],
    caughtBy: /^C4: the order .* was cancelled for want of funds/,
  },
  'the contract keeps no account of refused tokens': {
    story: 'refusing',
    contract: { from: 'owed[to][asset] += amount;\n        emit Held(to, asset, amount);', to: '' },
    caughtBy: /^C5: the exchange contract has/,
  },
};

/** A right build may be slow; a wrong one may never come to an end. */
const [PATIENCE_MS, HASTE_MS] = [90_000, 3_000];

let planted: PlantedWorld;
beforeAll(async () => {
  planted = await startPlantedWorld();
});
afterAll(() => planted?.stop());

async function violationsOf(
  story: keyof typeof STORIES,
  program: string,
  drainMs: number,
): Promise<string[]> {
  const stage = await openStage(planted, program);
  try {
    return [...(await STORIES[story](stage)), ...(await stage.check(drainMs))];
  } finally {
    await stage.stop();
  }
}

test.each(Object.keys(STORIES) as (keyof typeof STORIES)[])(
  'the checker finds nothing in the story %s of the right build',
  async (story) => {
    expect(await violationsOf(story, path.join(ROOT, 'dist'), PATIENCE_MS)).toEqual([]);
  },
);

test.each(Object.entries(BUGS))('%s: caught', async (_, { story, contract, caughtBy, ...bug }) => {
  const mend = contract ? await changeContract(contract) : null;
  const found = await withBug(bug, (program) => violationsOf(story, program, HASTE_MS));
  await mend?.();
  expect(found).toContainEqual(expect.stringMatching(caughtBy));
});

/** Puts the code of a changed contract in the place of the right one. Returns the function that puts that one back. */
async function changeContract({ from, to }: { from: string; to: string }): Promise<() => Promise<void>> {
  const { chain, collateral, ctf, admin, fees, deployer, exchange } = planted.world;
  const names = ['MarketExchange', 'Orders', 'Roles', 'ConditionalTokens'];
  const sources = names.map((name) => {
    const content = readFileSync(path.join(ROOT, `contracts/${name}.sol`), 'utf8');
    return [
      `${name}.sol`,
      { content: name === 'MarketExchange' ? content.replace(from, () => to) : content },
    ];
  });
  const changed = compileSources(Object.fromEntries(sources), ['MarketExchange']).get('MarketExchange');
  if (!changed || !readFileSync(path.join(ROOT, 'contracts/MarketExchange.sol'), 'utf8').includes(from))
    throw new Error(`nothing to change in the contract: ${from}`);
  await chain.ask('evm_setAutomine', true);
  const args = [DOMAIN_NAME, collateral, ctf, admin.address, fees.address];
  const other = await chain.deploy(deployer, changed, args);
  const codeOf = (address: string): Promise<string> => chain.ask<string>('eth_getCode', address, 'latest');
  const right = await codeOf(exchange);
  await chain.ask('anvil_setCode', exchange, await codeOf(other));
  return async () => void (await chain.ask('anvil_setCode', exchange, right));
}

test('every planted bug finds its place in the scripts and in the built modules', () => {
  for (const { chainLua, modules } of Object.values(BUGS)) {
    if (chainLua) expect(() => patchedScripts(chainLua, 'chain')).not.toThrow();
    for (const patch of modules ?? []) expect(() => findInModule(patch)).not.toThrow();
  }
  expect(Object.keys(BUGS)).toHaveLength(13);
});
