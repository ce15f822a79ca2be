import type { Candle } from '../../exchange/facts';
import type { MarketTerms, OutcomeIndex } from '../../exchange/market';
import { yesPrice } from '../../exchange/match';
import { formatLots, formatPips, type Pips } from '../../exchange/units';
import { fillBuckets } from './history';

export const CANDLE_INTERVALS = ['1m', '5m', '15m', '1h', '4h', '1d'] as const;
export type CandleInterval = (typeof CANDLE_INTERVALS)[number];

const MINUTE_MS = 60_000;
export const LENGTHS_MS: Readonly<Record<CandleInterval, number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '1d': 1_440 * MINUTE_MS,
};

export interface CandlesAsked {
  readonly interval: CandleInterval;
  readonly outcome: OutcomeIndex;
  readonly limit: number;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** The candles to show: those that start from `fromMs` to `lastMs`, the first `most` of them. */
export interface CandleWindow {
  readonly interval: CandleInterval;
  readonly outcome: OutcomeIndex;
  readonly bucketMs: number;
  readonly fromMs: number;
  readonly lastMs: number;
  readonly most: number;
}

/** With `from` the first ones from there on, without it the last ones up to `to`; the present candle is still filling. */
export function windowOf(
  { interval, outcome, limit, fromMs, toMs }: CandlesAsked,
  nowMs: number,
): CandleWindow {
  const bucketMs = LENGTHS_MS[interval];
  const lastMs = Math.floor(Math.min(toMs ?? nowMs, nowMs) / bucketMs) * bucketMs;
  const firstMs =
    fromMs === undefined
      ? Math.max(0, lastMs - (limit - 1) * bucketMs)
      : Math.ceil(fromMs / bucketMs) * bucketMs;
  return { interval, outcome, bucketMs, fromMs: firstMs, lastMs, most: limit };
}

/**
 * `candles` as `presentHistory` takes them: the buckets with trades and the one before. The price of No is 1 minus the
 * price of Yes, so its highest price is where Yes was lowest.
 */
export function presentCandles(terms: MarketTerms, window: CandleWindow, candles: readonly Candle[]) {
  const { interval, outcome, most } = window;
  const price = (pips: Pips): string => formatPips(yesPrice(pips, outcome));
  return {
    marketId: terms.id,
    interval,
    outcomeIndex: outcome,
    candles: fillBuckets(window, candles, most).map(({ t, candle }) => ({
      t,
      o: price(candle.open),
      h: price(outcome === 0 ? candle.high : candle.low),
      l: price(outcome === 0 ? candle.low : candle.high),
      c: price(candle.close),
      v: formatLots(candle.sizeLots),
      n: candle.trades,
    })),
  };
}
