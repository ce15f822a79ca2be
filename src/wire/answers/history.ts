import type { Candle } from '../../exchange/facts';
import type { MarketTerms } from '../../exchange/market';
import { complement, formatMicro, formatPips, lots, micro, type Pips } from '../../exchange/units';

export const TIMEFRAMES = ['1h', '6h', '1d', '1w', '1m', 'all'] as const;
export type Timeframe = (typeof TIMEFRAMES)[number];

const HOUR_SEC = 3_600;
const DAY_SEC = 86_400;

/** Seconds of a bucket and of the window; `all` begins with the first trade. */
const SPANS: Readonly<
  Record<Timeframe, { readonly intervalSec: number; readonly windowSec: number | null }>
> = {
  '1h': { intervalSec: 60, windowSec: HOUR_SEC },
  '6h': { intervalSec: 300, windowSec: 6 * HOUR_SEC },
  '1d': { intervalSec: 300, windowSec: DAY_SEC },
  '1w': { intervalSec: 1_800, windowSec: 7 * DAY_SEC },
  '1m': { intervalSec: 10_800, windowSec: 30 * DAY_SEC },
  all: { intervalSec: 43_200, windowSec: null },
};

/** First and last bucket of a timeframe, by their starts; the last one is still filling. */
export interface HistoryWindow {
  readonly timeframe: Timeframe;
  readonly fromMs: number;
  readonly lastMs: number;
  readonly bucketMs: number;
}

export function historyWindow(timeframe: Timeframe, nowMs: number): HistoryWindow {
  const { intervalSec, windowSec } = SPANS[timeframe];
  const bucketMs = intervalSec * 1_000;
  const lastMs = Math.floor(nowMs / bucketMs) * bucketMs;
  const fromMs = windowSec === null ? 0 : lastMs - windowSec * 1_000 + bucketMs;
  return { timeframe, fromMs, lastMs, bucketMs };
}

/** One bucket in its wire form; `t` in seconds. */
export interface Bucket {
  readonly t: number;
  readonly candle: Omit<Candle, 'startMs'>;
}

/**
 * `candles` are the buckets with trades, oldest first, and before them the last one older than the window, if any.
 * Empty buckets repeat the last price; before the first trade there is no price and no point.
 */
export function presentHistory(terms: MarketTerms, window: HistoryWindow, candles: readonly Candle[]) {
  const buckets = fillBuckets(window, candles);
  const history = buckets.map(({ t, candle }) => ({ t, p: formatPips(candle.close) }));
  return {
    marketId: terms.id,
    timeframe: window.timeframe,
    interval: window.bucketMs / 1_000,
    history,
    outcomes: [
      { index: 0, tokenId: terms.tokenIds[0], history },
      {
        index: 1,
        tokenId: terms.tokenIds[1],
        history: buckets.map(({ t, candle }) => ({ t, p: formatPips(complement(candle.close)) })),
      },
    ],
    candles: buckets.map(({ t, candle }) => ({
      t,
      o: formatPips(candle.open),
      h: formatPips(candle.high),
      l: formatPips(candle.low),
      c: formatPips(candle.close),
      v: formatMicro(candle.volumeMicro),
    })),
  };
}

/** Every bucket of the window from the first trade on, the first `most` of them. */
export function fillBuckets(
  { fromMs, lastMs, bucketMs }: Pick<HistoryWindow, 'fromMs' | 'lastMs' | 'bucketMs'>,
  candles: readonly Candle[],
  most = Number.POSITIVE_INFINITY,
): Bucket[] {
  const traded = new Map(candles.map((candle) => [candle.startMs, candle]));
  const carriedIn = candles.findLast(({ startMs }) => startMs < fromMs);
  let price: Pips | null = carriedIn?.close ?? null;
  const first = candles.find(({ startMs }) => startMs >= fromMs)?.startMs ?? Number.POSITIVE_INFINITY;
  const buckets: Bucket[] = [];
  for (let startMs = price === null ? first : fromMs; startMs <= lastMs; startMs += bucketMs) {
    if (buckets.length === most) break;
    const candle: Bucket['candle'] | null = traded.get(startMs) ?? (price === null ? null : flat(price));
    if (candle === null) continue;
    buckets.push({ t: startMs / 1_000, candle });
    price = candle.close;
  }
  return buckets;
}

const flat = (price: Pips): Bucket['candle'] => ({
  open: price,
  high: price,
  low: price,
  close: price,
  volumeMicro: micro(0),
  sizeLots: lots(0),
  trades: 0,
});
