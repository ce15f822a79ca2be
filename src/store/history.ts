import type { MarketId } from '../exchange/market';
import { yesPrice } from '../exchange/match';
import { micro, type Pips } from '../exchange/units';
import type { ShardKeys } from './keys';
import { decodeFills, type Fill } from './records';
import type { RedisClient } from './scripts';
import type { Candle, DayFigures } from './views';

export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Matches read in one go. */
const READ_MAX = 1_000;

interface Series {
  /** One-minute candles with trades, oldest first. */
  readonly minutes: Candle[];
  lastId: string;
}

export interface History {
  day(id: MarketId, nowMs: number): Promise<DayFigures>;
  /** Buckets with trades from `fromMs` on, oldest first, after the last one before `fromMs` if there is one. */
  candles(id: MarketId, fromMs: number, bucketMs: number): Promise<readonly Candle[]>;
}

/**
 * Price history from the stored matches. Each process keeps the one-minute candles it has aggregated and reads only
 * the matches since; the candles hold nothing that the matches do not.
 */
export function createHistory({ redis, keys }: { redis: RedisClient; keys: ShardKeys }): History {
  const series = new Map<MarketId, Series>();
  const underway = new Map<MarketId, Promise<Series>>();

  async function extend(id: MarketId): Promise<Series> {
    const known = series.get(id) ?? { minutes: [], lastId: '0-0' };
    for (;;) {
      const entries = await redis.xrangeBuffer(keys.trades(id), `(${known.lastId}`, '+', 'COUNT', READ_MAX);
      for (const [entryId, fields] of entries) {
        known.lastId = entryId.toString();
        const [ms, sequence] = known.lastId.split('-').map(Number);
        for (const fill of decodeFills(ms ?? 0, sequence ?? 0, fields[1] as Buffer)) add(known.minutes, fill);
      }
      series.set(id, known);
      if (entries.length < READ_MAX) return known;
    }
  }

  /** One reader per market at a time; a reader that comes meanwhile waits for a fresh read of its own. */
  async function current(id: MarketId): Promise<Series> {
    await underway.get(id)?.catch(() => undefined);
    const shared = underway.get(id);
    if (shared) return shared;
    const run = extend(id).finally(() => underway.delete(id));
    underway.set(id, run);
    return run;
  }

  return {
    async day(id, nowMs) {
      const { minutes } = await current(id);
      const from = nowMs - DAY_MS;
      let volume = 0;
      let at = minutes.length - 1;
      for (; at >= 0 && (minutes[at]?.startMs ?? 0) >= from; at--) volume += minutes[at]?.volumeMicro ?? 0;
      const openPips = minutes[at]?.close ?? minutes[at + 1]?.open ?? null;
      return { volumeMicro: micro(volume), openPips };
    },
    async candles(id, fromMs, bucketMs) {
      const { minutes } = await current(id);
      const out: Candle[] = [];
      for (const minute of minutes) {
        const startMs = Math.floor(minute.startMs / bucketMs) * bucketMs;
        const last = out.at(-1);
        if (last?.startMs === startMs) out[out.length - 1] = merge(last, minute);
        else if (last && startMs < fromMs) out[0] = { ...minute, startMs };
        else out.push({ ...minute, startMs });
      }
      return out;
    },
  };
}

function add(minutes: Candle[], fill: Fill): void {
  const startMs = Math.floor(fill.tradeMs / MINUTE_MS) * MINUTE_MS;
  const price: Pips = yesPrice(fill.pricePips, fill.takerOutcome);
  const volumeMicro = micro(fill.pricePips * fill.sizeLots);
  const trade: Candle = { startMs, open: price, high: price, low: price, close: price, volumeMicro };
  const last = minutes.at(-1);
  if (last?.startMs === startMs) minutes[minutes.length - 1] = merge(last, trade);
  else minutes.push(trade);
}

/** A candle and the one that follows it within the same bucket. */
function merge(first: Candle, next: Candle): Candle {
  return {
    startMs: first.startMs,
    open: first.open,
    high: next.high > first.high ? next.high : first.high,
    low: next.low < first.low ? next.low : first.low,
    close: next.close,
    volumeMicro: micro(first.volumeMicro + next.volumeMicro),
  };
}
