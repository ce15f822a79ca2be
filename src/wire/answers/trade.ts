import { type BookedOrder, settlementOf, type TradeFacts } from '../../exchange/facts';
import type { MarketTerms } from '../../exchange/market';
import { feeAssetOf, SIDES } from '../../exchange/match';
import { formatLots, formatMicro, formatPips, type Micro, type Pips } from '../../exchange/units';
import { iso } from '../prices';

/** A public trade: side, outcome, token and price are the taker's. */
export function presentTrade(fill: TradeFacts, terms: MarketTerms) {
  return {
    id: fill.id,
    sequence: fill.sequence,
    marketId: terms.id,
    conditionId: terms.conditionId,
    outcomeIndex: fill.takerOutcome,
    tokenId: terms.tokenIds[fill.takerOutcome],
    side: SIDES[fill.takerSide],
    price: formatPips(fill.pricePips),
    size: formatLots(fill.sizeLots),
    value: formatMicro(fill.pricePips * fill.sizeLots),
    matchType: fill.matchType,
    makerOrderHash: fill.makerHash,
    takerOrderHash: fill.takerHash,
    matchedAt: iso(fill.matchedMs),
    ...settlementOf({
      ...fill,
      settlementStatus: fill.settlementStatus ?? 'MATCHED',
      transactionHash: fill.transactionHash ?? null,
    }),
  };
}

/** One order's side of a fill. */
export interface SideFacts {
  readonly role: 'MAKER' | 'TAKER';
  readonly order: BookedOrder;
  /** In the order's own token. */
  readonly pricePips: Pips;
  readonly feeMicro: Micro;
}

/** A line of GET /me/trades, and `trade:update`: the public trade, and the part of the wallet's own order in it. */
export function presentTradeOf(side: SideFacts, fill: TradeFacts, terms: MarketTerms) {
  const { role, order, pricePips, feeMicro } = side;
  return {
    ...presentTrade(fill, terms),
    role,
    own: {
      orderHash: order.orderHash,
      clientOrderId: order.clientOrderId,
      role,
      side: SIDES[order.side],
      outcomeIndex: order.outcome,
      tokenId: terms.tokenIds[order.outcome],
      price: formatPips(pricePips),
      size: formatLots(fill.sizeLots),
      fee: formatMicro(feeMicro),
      feeAsset: feeAssetOf(order.side, order.outcome),
    },
  };
}
