import type { OutcomeIndex } from './market';
import { complement, type Pips } from './units';

/** 0 BUY and 1 SELL, as signed. */
export type Side = 0 | 1;
export const SIDES = ['BUY', 'SELL'] as const;
export type SideName = (typeof SIDES)[number];

/** How two orders become a trade; codes are stored by lua/lib/order.lua. */
export const MATCH_TYPES = ['COMPLEMENTARY', 'MINT', 'MERGE'] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

/** An order is shown with so many of its fills at most; the others are in a list of their own. */
export const FILLS_SHOWN_MAX = 100;

export type BookSide = 'bid' | 'ask';

/** BUY Yes and SELL No are bids of the Yes book, the other two are asks. */
export const bookSideOf = (side: Side, outcome: OutcomeIndex): BookSide => (side === outcome ? 'bid' : 'ask');

/** An order's own price as a price of the Yes book, and back. */
export const yesPrice = (own: Pips, outcome: OutcomeIndex): Pips => (outcome === 0 ? own : complement(own));

/** The asset of a fee: for a SELL the collateral it receives, for a BUY the tokens it buys. */
export const FEE_ASSETS = ['COLLATERAL', 'YES', 'NO'] as const;
export type FeeAsset = (typeof FEE_ASSETS)[number];

export function feeAssetOf(side: Side, outcome: OutcomeIndex): FeeAsset {
  if (side === 1) return 'COLLATERAL';
  return outcome === 0 ? 'YES' : 'NO';
}

/** The match type of a taker and a maker that cross: by their sides alone. */
export function matchTypeOf(taker: Side, maker: Side): MatchType {
  if (taker !== maker) return 'COMPLEMENTARY';
  return taker === 0 ? 'MINT' : 'MERGE';
}
