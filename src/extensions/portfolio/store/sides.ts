import { MICRO_PER_LOT, type Micro, type Pips } from '../../../exchange/units';
import type { OrderRecord } from '../../../store/records/order';
import type { StoredMatch } from '../../../store/settlement/matches';
import type { Change } from '../position';

type MatchedFill = StoredMatch['fills'][number];

/** One of the two orders of a fill, from the view of its wallet. */
export interface OwnSide {
  readonly role: 'TAKER' | 'MAKER';
  readonly order: OrderRecord;
  readonly fill: MatchedFill;
  /** The price in the order's own token. */
  readonly pricePips: Pips;
  readonly feeMicro: Micro;
}

/** Returns both sides of every fill of a match, in the order in which the makers were met, the taker before its maker. */
export function sidesOf({ taker, fills }: StoredMatch): OwnSide[] {
  return fills.flatMap((fill): OwnSide[] => [
    { role: 'TAKER', order: taker, fill, pricePips: fill.pricePips, feeMicro: fill.takerFeeMicro },
    { role: 'MAKER', order: fill.maker, fill, pricePips: fill.maker.pricePips, feeMicro: fill.makerFeeMicro },
  ]);
}

/** The order of booking: if one wallet has both sides, tokens that it gives were there before those that it receives. */
export const salesFirst = (sides: readonly OwnSide[]): OwnSide[] =>
  [...sides].sort((a, b) => a.fill.index - b.fill.index || b.order.side - a.order.side);

/**
 * The effect of a fill on the wallet of one of its orders: a BUY pays its fee in the tokens that it receives, a SELL in
 * collateral.
 */
export function changeOf({ order, fill, pricePips, feeMicro }: OwnSide): Change {
  const tokens = BigInt(fill.sizeLots) * BigInt(MICRO_PER_LOT);
  const value = BigInt(fill.sizeLots) * BigInt(pricePips);
  const fee = BigInt(feeMicro);
  return order.side === 0
    ? { tokensMicro: tokens - fee, collateralMicro: -value }
    : { tokensMicro: -tokens, collateralMicro: value - fee };
}
