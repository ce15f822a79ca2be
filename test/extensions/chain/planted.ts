import type { Bug } from '../../faults/planted-program';
import type { STORIES } from './planted-stories';

/**
 * Each of these bugs, planted in a copy of the build or in the contract, is found from outside by its own check, in a story in which
 * the right build has none, which proves that the checker of funds on a chain can fail.
 */
export interface Planted extends Bug {
  readonly story: keyof typeof STORIES;
  /** A change of contracts/MarketExchange.sol. */
  readonly contract?: { readonly from: string; readonly to: string };
  readonly caughtBy: RegExp;
}

export const BUGS: Readonly<Record<string, Planted>> = {
  'a credit counts at the head': {
    story: 'calm',
    modules: [{ file: 'chain/blocks.js', from: 'newest("finalized")', to: 'newest("latest")' }],
    caughtBy: /^C4: .* is shown as of block/,
  },
  'a match is released with the numbers of the block before': {
    story: 'calm',
    modules: [
      {
        file: 'extensions/chain/jobs/observation.js',
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
        file: 'extensions/chain/store/readings.js',
        from: 'amount / microAmount',
        to: 'amount / (microAmount / 10n ** 12n)',
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
        file: 'extensions/chain/jobs/open-transactions.js',
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
        file: 'extensions/chain/jobs/open-transactions.js',
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
      {
        file: 'extensions/chain/contracts/exchange-events.js',
        from: 'async at({ hash })',
        to: 'async at({ hash, number })',
      },
      {
        file: 'extensions/chain/contracts/exchange-events.js',
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
        file: 'extensions/chain/jobs/observation.js',
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
        from: "if not is_confirmed and e.wallet ~= '' and",
        to: "if e.reason == 9 then\n    standing.strike(shard, e.found[1].wallet, e.name, e.reason, now_ms)\n  end\n  if not is_confirmed and e.wallet ~= '' and",
      },
    ],
    caughtBy: /^C3: .* has 1 strikes for 0 failures/,
  },
  'a pause of the collateral is looked for in a later block than the failure': {
    story: 'pausing',
    modules: [
      {
        file: 'extensions/chain/jobs/lane.js',
        from: 'isCollateralStuck(at)',
        to: 'isCollateralStuck("latest")',
      },
    ],
    caughtBy: /^C4: the order .* was cancelled for want of funds/,
  },
  'the contract keeps no account of refused tokens': {
    story: 'refusing',
    contract: { from: 'owed[to][asset] += amount;\n        emit Held(to, asset, amount);', to: '' },
    caughtBy: /^C5: the exchange contract has/,
  },
};
