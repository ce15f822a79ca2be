import type { MarketId } from '../../exchange/market';
import {
  type Mark,
  type MatchEntry,
  MINUTE_MS,
  packCandles,
  packMark,
  type Tally,
  unpackCandles,
  unpackMark,
} from '../records/candle';
import type { ShardKeys } from '../redis/keys';
import { readRun } from '../redis/run';
import type { RedisClient, RunScript } from '../redis/scripts';

/** A part of a stored series. */
export interface Stretch {
  /** Place of the first of `candles` in the series, in bytes. */
  readonly offset: number;
  readonly candles: readonly Tally[];
}

export interface SeriesOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
}

/** The basis of a writer: a mark, and the run of Redis it was read from (src/store/redis/run.ts). */
export interface Seen {
  readonly from: Buffer;
  readonly seen: Buffer;
}

export interface Series {
  /** read_candles: at most `most` candles of each interval, from the last one before `fromMs` on, and the mark. */
  read(
    id: MarketId,
    intervals: readonly number[],
    fromMs: number,
    most: number,
  ): Promise<{ seen: Buffer; stretches: Stretch[] }>;
  /** write_candles: from each offset on, if the mark is still `seen` on the run of Redis it was `from`; says whether it was. */
  write(id: MarketId, seen: Seen, mark: Mark, stretches: ReadonlyMap<number, Stretch>): Promise<boolean>;
  /** The next matches that are not counted at this mark, MATCHES_MAX at most. */
  matchesAfter(id: MarketId, mark: Mark, most?: number): Promise<MatchEntry[]>;
  /** The markets that have matches which are not counted. */
  behind(): Promise<MarketId[]>;
  from(): Promise<Buffer>;
  markets(): Promise<MarketId[]>;
}

/** Matches read in one go. */
export const MATCHES_MAX = 500;
/** More than a script gives; it knows its bound. */
export const ALL = 0xffffffff;
/** A moment behind every candle, in milliseconds. */
export const END_MS = 0xffffffff * MINUTE_MS;

/** The stored candles of the markets, and the matches they are counted from. */
export function createSeries({ redis, run, keys }: SeriesOptions): Series {
  const keysOf = (id: MarketId, intervals: readonly number[]) =>
    [keys.candleMarks, ...intervals.map((intervalMs) => keys.candles(id, intervalMs / 1_000))] as const;

  async function read(
    id: MarketId,
    intervals: readonly number[],
    fromMs: number,
    most: number,
  ): Promise<{ seen: Buffer; stretches: Stretch[] }> {
    const moment = Math.ceil(fromMs / MINUTE_MS);
    const [seen, ...parts] = await run('read_candles', keysOf(id, intervals), [id, moment, most]);
    const stretches = parts.map(([offset, packed]) => ({ offset, candles: unpackCandles(packed) }));
    return { seen, stretches };
  }

  async function write(
    id: MarketId,
    { from, seen }: Seen,
    mark: Mark,
    stretches: ReadonlyMap<number, Stretch>,
  ): Promise<boolean> {
    const parts = [...stretches.values()].flatMap(({ offset, candles }) => [offset, packCandles(candles)]);
    const written = await run('write_candles', keysOf(id, [...stretches.keys()]), [
      id,
      seen,
      packMark(mark),
      from,
      ...parts,
    ]);
    return written === 1;
  }

  async function matchesAfter(id: MarketId, mark: Mark, most = MATCHES_MAX): Promise<MatchEntry[]> {
    const after = `(${mark.lastMs}-${mark.lastSequence}`;
    return (await redis.xrangeBuffer(keys.trades(id), after, '+', 'COUNT', most)) as MatchEntry[];
  }

  /** One whose mark cannot be read is for its counter to say. */
  async function isBehind(id: MarketId, mark: Buffer): Promise<boolean> {
    let counted: Mark;
    try {
      counted = unpackMark(mark);
    } catch {
      return true;
    }
    return (await matchesAfter(id, counted, 1)).length > 0;
  }

  async function behind(): Promise<MarketId[]> {
    const [ids, marks] = await Promise.all([
      redis.hkeys(keys.markets),
      redis.hgetallBuffer(keys.candleMarks),
    ]);
    const waiting = await Promise.all(ids.map((id) => isBehind(id, marks[id] ?? Buffer.alloc(0))));
    return ids.filter((_, i) => waiting[i]);
  }

  return {
    read,
    write,
    matchesAfter,
    behind,
    from: () => readRun(run, keys),
    markets: () => redis.hkeys(keys.markets),
  };
}
