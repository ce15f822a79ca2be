import type { MarketId } from '../../exchange/market';
import { SETTLEMENT_STATUSES } from '../../exchange/status';
import { type FundsMark, readFunds } from '../health/funds';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../lists/archived-reads';
import { getLists } from '../lists/list';
import { createMarketMatches } from '../lists/matches';
import { above, entryId, LAST_MATCH, matchPlace } from '../lists/places';
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
import { LEFT } from '../records/layout';
import { countFills, withoutFills } from '../records/order';
import { settlementNames } from '../records/settlement';
import { readFields } from '../redis/fields';
import type { Keys } from '../redis/keys';
import { readRun } from '../redis/run';
import type { RedisClient, RunScript } from '../redis/scripts';

/** A part of a stored series. */
export interface Stretch {
  /** Position of the first of `candles` in the series, in bytes. */
  readonly offset: number;
  readonly candles: readonly Tally[];
}

export interface SeriesOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  /** Without it nothing has left Redis. */
  readonly archivedReads?: ArchivedReads;
}

/** The state on which a writer builds: a mark, and the run of Redis from which it was read (src/store/redis/run.ts). */
interface Seen {
  readonly from: Buffer;
  readonly seen: Buffer;
}

export interface Series {
  /** read_candles: returns the mark, and at most `most` candles of each interval, from the last one before `fromMs` on. */
  read(
    id: MarketId,
    intervals: readonly number[],
    fromMs: number,
    most: number,
  ): Promise<{ seen: Buffer; stretches: Stretch[] }>;
  /** write_candles: writes from each offset on, if the mark is still `seen` on the run `from`; returns whether it wrote. */
  write(id: MarketId, seen: Seen, mark: Mark, stretches: ReadonlyMap<number, Stretch>): Promise<boolean>;
  /**
   * Returns the next matches after this mark, MATCHES_MAX at most. With funds on a chain it ends before the first one that may still
   * fail, and a match is without the fills that failed. While the stored mark is this one, all of them are in Redis:
   * a match leaves only when it is counted.
   */
  matchesAfter(id: MarketId, mark: Mark, most?: number): Promise<MatchEntry[]>;
  /** The same for a mark that may be an old one; without `areFinal` also matches that may still fail. */
  everyMatchAfter(id: MarketId, mark: Mark, areFinal?: boolean): Promise<MatchEntry[]>;
  /** Whether a match may fail. */
  mayFail(): Promise<boolean>;
  /** Returns the number of matches that the market has had. */
  total(id: MarketId): Promise<number>;
  /** Returns the markets with uncounted matches. */
  behind(): Promise<MarketId[]>;
  from(): Promise<Buffer>;
  markets(): Promise<MarketId[]>;
}

/** The most matches read in one call. */
export const MATCHES_MAX = 500;
/** The most candles of one read (lua/read_candles.lua). */
const CANDLES_MAX = 20_000;
const FIELD = Buffer.from('f');
/** More than the script returns, which has its own bound. */
export const ALL = 0xffffffff;
/** A moment after every candle, in milliseconds. */
export const END_MS = 0xffffffff * MINUTE_MS;

/** The stored candles of the markets, and the matches from which they are counted. */
export function createSeries({ redis, run, keys, archivedReads = NO_ARCHIVED_READS }: SeriesOptions): Series {
  const matchesOf = createMarketMatches({ redis, keys, archivedReads });
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
    const isGone = seen.length > 0 && stretches.some(({ candles }) => candles.length === 0);
    if (!isGone || (await redis.hexists(keys.market(id), 'c')) === 0) return { seen, stretches };
    const gone = intervals.map((intervalMs, i) =>
      stretches[i]?.candles.length
        ? stretches[i]
        : archived(id, { ...unpackMark(seen), intervalMs }, moment, most),
    );
    return { seen, stretches: await Promise.all(gone) };
  }

  /** A stretch as read_candles gives it, of a market whose candles have left Redis (src/extensions/archive/lua/forget_market.lua). */
  async function archived(
    id: MarketId,
    series: Parameters<ArchivedReads['candles']>[1],
    moment: number,
    most: number,
  ): Promise<Stretch> {
    const rows = await archivedReads.candles(id, series, moment - 1, Math.min(most, CANDLES_MAX));
    const candles = rows.flatMap(unpackCandles);
    const next = candles.findIndex(({ startMs }) => startMs >= moment * MINUTE_MS);
    const first = Math.max(0, (next === -1 ? candles.length : next) - 1);
    return { offset: 0, candles: candles.slice(first, first + Math.min(most, CANDLES_MAX)) };
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
    return traded(
      id,
      (await redis.xrangeBuffer(keys.trades(id), after, '+', 'COUNT', most)) as MatchEntry[],
      true,
    );
  }

  let funds: Promise<FundsMark | null> | null = null;
  async function mayFail(): Promise<boolean> {
    funds ??= readFunds(redis, keys);
    funds.catch(() => {
      funds = null;
    });
    return (await funds) !== null;
  }

  /** The matches without the fills that failed on a chain; with `areFinal` only those before the first one that may still fail. */
  async function traded(
    id: MarketId,
    entries: readonly MatchEntry[],
    areFinal: boolean,
  ): Promise<MatchEntry[]> {
    if (entries.length === 0 || !(await mayFail())) return [...entries];
    const names = entries.map(([entry, [, packed]]) =>
      settlementNames({ ...matchPlace(entry), marketId: id }, countFills(packed ?? Buffer.alloc(0))),
    );
    const records = await getLists((all) => readFields(redis, keys.settlements, all), names);
    const found: MatchEntry[] = [];
    for (const [i, [entry, [field, packed]]] of entries.entries()) {
      const own = records[i]?.map((record) => SETTLEMENT_STATUSES[record?.[0] ?? 0]) ?? [];
      if (areFinal && own.some((status) => status !== 'CONFIRMED' && status !== 'FAILED')) break;
      const failed = (part: number): boolean => own[part] === 'FAILED';
      found.push([entry, [field as Buffer, withoutFills(packed ?? Buffer.alloc(0), failed)]]);
    }
    return found;
  }

  async function everyMatchAfter(
    id: MarketId,
    { lastMs, lastSequence }: Mark,
    areFinal = false,
  ): Promise<MatchEntry[]> {
    const from = above({ tradeMs: lastMs, sequence: lastSequence });
    const found = await matchesOf(id, { from, to: LAST_MATCH, descending: false, most: MATCHES_MAX });
    const entries = found.map((match): MatchEntry => [Buffer.from(entryId(match)), [FIELD, match.packed]]);
    return traded(id, entries, areFinal);
  }

  async function total(id: MarketId): Promise<number> {
    const replies = await redis.multi().hgetBuffer(keys.market(id), 'f').xlen(keys.trades(id)).exec();
    const [left, here] = (replies ?? []).map(([, reply]) => reply) as [Buffer | null, number];
    return (left ? LEFT.get.matches(left) : 0) + here;
  }

  /** A market whose mark cannot be read is included; its counter reports the error. */
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
    everyMatchAfter,
    mayFail,
    total,
    behind,
    from: () => readRun(run, keys),
    markets: () => redis.hkeys(keys.markets),
  };
}
