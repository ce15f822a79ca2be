/**
 * The part of the funds that a wallet's own transactions take. The exchange shows that later, so until then the bot counts it itself,
 * from the request on. `settle` names the block by which the transaction ran.
 */
export interface Departure {
  readonly marketId: string;
  /** Tokens of each outcome. */
  readonly tokens: number;
  readonly cash: number;
}

export interface Departures {
  add(departure: Departure): void;
  settle(departure: Departure, block: number): void;
  drop(departure: Departure): void;
  /** Forgets what the balances of this block have. */
  seen(asOfBlock: number): void;
  has(marketId: string): boolean;
  tokens(marketId: string): number;
  cash(): number;
}

/** An order is accepted on numbers of the last four final blocks, so older ones may still count. */
const SEEN_BLOCKS = 4;

export function createDepartures(): Departures {
  const blocks = new Map<Departure, number>();
  const sum = (of: (one: Departure) => number): number =>
    [...blocks.keys()].reduce((total, one) => total + of(one), 0);
  return {
    add: (departure) => void blocks.set(departure, Number.POSITIVE_INFINITY),
    settle: (departure, block) => void blocks.set(departure, block),
    drop: (departure) => void blocks.delete(departure),
    seen(asOfBlock) {
      for (const [departure, block] of blocks) if (asOfBlock > block + SEEN_BLOCKS) blocks.delete(departure);
    },
    has: (marketId) => [...blocks.keys()].some((one) => one.marketId === marketId),
    tokens: (marketId) => sum((one) => (one.marketId === marketId ? one.tokens : 0)),
    cash: () => sum(({ cash }) => cash),
  };
}
