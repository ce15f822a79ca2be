import type { BlockRef, ConvertedTokens, SettlementEvent, WalletReading } from '../../../src/exchange/chain';
import type { ExposedWallet, ObservedLedger } from '../../../src/extensions/chain/jobs/observation';
import type { MinedSettlement } from '../../../src/store/settlement/mined';

export interface NotedBlock {
  readonly from: BlockRef | null;
  readonly to: BlockRef;
  readonly readings: readonly WalletReading[];
  readonly events: readonly SettlementEvent[];
  readonly converted: readonly ConvertedTokens[];
}
export interface NotedHead {
  readonly head: BlockRef;
  readonly readings: readonly WalletReading[];
}

/** Writes down what an observer brings; the ledger itself has tests of its own. */
export interface Notebook extends ObservedLedger {
  readonly blocks: readonly NotedBlock[];
  readonly heads: readonly NotedHead[];
  /** The settlements in blocks that were not final at the last head. */
  mined(): readonly MinedSettlement[];
  expose(wallets: readonly ExposedWallet[]): void;
  /** Every settlement that ended, in order. */
  results(): SettlementEvent[];
}

export function openNotebook(): Notebook {
  const blocks: NotedBlock[] = [];
  const heads: NotedHead[] = [];
  let mined: readonly MinedSettlement[] = [];
  let exposed: readonly ExposedWallet[] = [];
  const at = (): BlockRef | null => blocks.at(-1)?.to ?? null;
  return {
    blocks,
    heads,
    expose: (wallets) => {
      exposed = wallets;
    },
    results: () => blocks.flatMap(({ events }) => events),
    finalBlock: async () => at(),
    exposed: async () => exposed,
    observeBlock: async (from, to, readings, events, converted) => {
      if (from?.hash !== at()?.hash) return false;
      blocks.push({ from, to, readings, events, converted });
      return true;
    },
    mined: () => mined,
    noteMined: async (list) => {
      mined = list;
    },
    capWallets: async (_final, head, readings) => heads.push({ head, readings }) > 0,
  };
}
