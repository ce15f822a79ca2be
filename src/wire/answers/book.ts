import type { BookFacts, Level, MarketView } from '../../exchange/facts';
import type { OutcomeIndex } from '../../exchange/market';
import { yesPrice } from '../../exchange/match';
import { formatLots, formatPips } from '../../exchange/units';
import { crc32Hex } from '../crc32';
import { formatPrice } from '../prices';

const CHECKSUM_LEVELS = 25;

/** The Yes book and its mirror, the No book; at most `depth` levels of each side. */
export function presentOrderbook({ terms, state, nowMs }: MarketView, depth = Number.POSITIVE_INFINITY) {
  const bids = state.bids.slice(0, depth);
  const asks = state.asks.slice(0, depth);
  const yes = { bids: presentLevels(bids, 0), asks: presentLevels(asks, 0) };
  return {
    marketId: terms.id,
    conditionId: terms.conditionId,
    sequence: state.sequence,
    timestamp: nowMs,
    tickSize: formatPips(terms.tickPips),
    ...yes,
    outcomes: [
      { index: 0, tokenId: terms.tokenIds[0], ...yes },
      { index: 1, tokenId: terms.tokenIds[1], bids: presentLevels(asks, 1), asks: presentLevels(bids, 1) },
    ],
    lastTradePrice: formatPrice(state.lastPips),
    checksum: bookChecksum(state),
  };
}

function presentLevels(levels: readonly Level[], outcome: OutcomeIndex) {
  return levels.map(({ pricePips, sizeLots, orders }) => ({
    price: formatPips(yesPrice(pricePips, outcome)),
    size: formatLots(sizeLots),
    orders,
  }));
}

/** CRC-32 of `sequence|b:price:size,...|a:price:size,...` over the best 25 Yes levels of each side. */
export function bookChecksum({
  sequence,
  bids,
  asks,
}: Pick<BookFacts, 'sequence' | 'bids' | 'asks'>): string {
  return crc32Hex(`${sequence}|b:${sideText(bids)}|a:${sideText(asks)}`);
}

const sideText = (levels: readonly Level[]): string =>
  levels
    .slice(0, CHECKSUM_LEVELS)
    .map(({ pricePips, sizeLots }) => `${formatPips(pricePips)}:${formatLots(sizeLots)}`)
    .join(',');
