import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Artifact } from '../../../src/chain/artifacts';
import { withBug } from '../../faults/planted-program';
import { ROOT } from '../../support/processes';
import { BUGS } from './planted';
import { openStage, type PlantedWorld, startPlantedWorld } from './planted-stage';
import { STORIES } from './planted-stories';
import { DOMAIN_NAME } from './world';

const { compileSources } = require('../../../scripts/contracts.js') as {
  readonly compileSources: (sources: object, names: readonly string[]) => ReadonlyMap<string, Artifact>;
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
  if (!changed) throw new Error('the changed contract does not compile');
  await chain.ask('evm_setAutomine', true);
  const args = [DOMAIN_NAME, collateral, ctf, admin.address, fees.address];
  const other = await chain.deploy(deployer, changed, args);
  const codeOf = (address: string): Promise<string> => chain.ask<string>('eth_getCode', address, 'latest');
  const right = await codeOf(exchange);
  await chain.ask('anvil_setCode', exchange, await codeOf(other));
  return async () => void (await chain.ask('anvil_setCode', exchange, right));
}
