import type { OutcomeIndex } from './market';
import { complement, type Pips } from './units';

/** 0 BUY and 1 SELL, as signed. */
export type Side = 0 | 1;
export const SIDES = ['BUY', 'SELL'] as const;
export type SideName = (typeof SIDES)[number];

/** The ways in which two orders become a trade; lua/lib/order.lua stores the codes. */
export const MATCH_TYPES = ['COMPLEMENTARY', 'MINT', 'MERGE'] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

/** The most fills that an order is shown with; the others are in a separate list. */
export const FILLS_SHOWN_MAX = 100;

export type BookSide = 'bid' | 'ask';

/** BUY Yes and SELL No are bids of the Yes book, the other two are asks. */
export const bookSideOf = (side: Side, outcome: OutcomeIndex): BookSide => (side === outcome ? 'bid' : 'ask');

/** Converts an order's own price to a price of the Yes book, and back. */
export const yesPrice = (own: Pips, outcome: OutcomeIndex): Pips => (outcome === 0 ? own : complement(own));

/** The asset of a fee: the collateral that a SELL receives, the tokens that a BUY receives. */
export const FEE_ASSETS = ['COLLATERAL', 'YES', 'NO'] as const;
export type FeeAsset = (typeof FEE_ASSETS)[number];

export function feeAssetOf(side: Side, outcome: OutcomeIndex): FeeAsset {
  if (side === 1) return 'COLLATERAL';
  return outcome === 0 ? 'YES' : 'NO';
}

/** The match type of a crossing taker and maker; it depends only on their sides. */
export function matchTypeOf(taker: Side, maker: Side): MatchType {
  if (taker !== maker) return 'COMPLEMENTARY';
  return taker === 0 ? 'MINT' : 'MERGE';
}
