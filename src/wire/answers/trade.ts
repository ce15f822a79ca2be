import { settlementOf, type TradeFacts } from '../../exchange/facts';
import type { MarketTerms } from '../../exchange/market';
import { SIDES } from '../../exchange/match';
import { formatLots, formatMicro, formatPips } from '../../exchange/units';
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
