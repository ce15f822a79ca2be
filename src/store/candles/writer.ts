import type { MarketId } from '../../exchange/market';
import { pips } from '../../exchange/units';
import {
  countMatches,
  INTERVALS_MS,
  NO_TOTALS,
  nextGeneration,
  rollUp,
  startOf,
  type Tally,
  unpackMark,
} from '../records/candle';
import { createFormerCandles } from './former';
import { createSeries, END_MS, MATCHES_MAX, type Seen, type SeriesOptions, type Stretch } from './series';

/** The prices of one minute, in pips. */
export type MinutePrices = Readonly<Record<'startMs' | 'open' | 'high' | 'low' | 'close', number>>;

/** Steps of MATCHES_MAX that one market's history may have, and times its new candles may lose to a writer before them. */
const REBUILD_STEPS_MAX = 1_000_000;
const REPLACE_TRIES_MAX = 1_000;

export interface CandleWriter {
  /** The markets that have matches which are not counted. */
  behind(): Promise<MarketId[]>;
  markets(): Promise<MarketId[]>;
  /** The markets that have candles of layout 1. */
  former(): Promise<MarketId[]>;
  /** Takes over what the candles of layout 1 alone know of a market, and drops them. */
  adopt(id: MarketId): Promise<void>;
  /** Counts the next matches of a market; says whether there may be more. */
  extend(id: MarketId): Promise<boolean>;
  /**
   * Counts a market again from all of its matches, and replaces the stored candles. Trading, reading and counting go on
   * meanwhile. Returns how many matches it has counted.
   */
  rebuild(id: MarketId): Promise<number>;
  /**
   * Minutes of before a market's first match, without volume: for demonstrations. Nothing is done, and false answered,
   * when anything of the market is counted already. Counting goes on behind them; a rebuild leaves them out, because no
   * match stands behind them.
   */
  preload(id: MarketId, minutes: readonly MinutePrices[]): Promise<boolean>;
}

/**
 * Counts matches into the stored candles. Each match is counted once: candles and mark are written together, and only
 * by a writer that has seen the mark as it still is; one that comes too late has done nothing.
 */
export function createCandleWriter(options: SeriesOptions): CandleWriter {
  const series = createSeries(options);
  const former = createFormerCandles(options);

  async function extend(id: MarketId): Promise<boolean> {
    const from = await series.from();
    const { seen, stretches } = await series.read(id, INTERVALS_MS, END_MS, 1);
    const before = unpackMark(seen);
    const entries = await series.matchesAfter(id, before);
    if (entries.length === 0) return false;
    const minutes: Tally[] = [];
    const mark = countMatches(minutes, entries, before);
    const parts = INTERVALS_MS.map((intervalMs, i): [number, Stretch] => {
      const { offset, candles } = stretches[i] ?? { offset: 0, candles: [] };
      return [intervalMs, { offset, candles: rollUp([...candles, ...minutes], intervalMs) }];
    });
    const written = await series.write(id, { from, seen }, mark, new Map(parts));
    return !written || entries.length === MATCHES_MAX;
  }

  async function rebuild(id: MarketId): Promise<number> {
    const from = await series.from();
    const minutes: Tally[] = [];
    let reached = startOf(0);
    let count = 0;
    let more = true;
    for (let step = 0; more; step++) {
      if (step === REBUILD_STEPS_MAX)
        throw new Error(`market ${id} has more matches than can be counted anew`);
      const entries = await series.matchesAfter(id, reached);
      reached = countMatches(minutes, entries, reached);
      count += entries.length;
      more = entries.length === MATCHES_MAX;
    }
    const whole = wholeOf(minutes);
    for (let attempt = 0; attempt < REPLACE_TRIES_MAX; attempt++) {
      const { seen } = await series.read(id, [], 0, 0);
      // A writer that has seen the old series must not go on in the new ones: its offsets may be others.
      const mark = { ...reached, generation: nextGeneration(unpackMark(seen)) };
      if (await series.write(id, { from, seen }, mark, whole)) return count;
    }
    throw new Error(
      `the candles of market ${id} change faster than they can be replaced, or Redis was restarted: rebuild again`,
    );
  }

  async function preload(id: MarketId, minutes: readonly MinutePrices[]): Promise<boolean> {
    const from = await series.from();
    const { seen } = await series.read(id, [], 0, 0);
    if (seen.length > 0 || minutes.length === 0) return false;
    if ((await series.matchesAfter(id, startOf(0), 1)).length > 0) return false;
    const tallies = minutes.map(
      ({ startMs, open, high, low, close }): Tally => ({
        ...{ startMs, open: pips(open), high: pips(high), low: pips(low), close: pips(close) },
        ...NO_TOTALS,
      }),
    );
    return begin(id, { from, seen }, tallies);
  }

  /** Minutes of before the first match, in a market of which nothing is counted; says whether they were written. */
  const begin = (id: MarketId, seen: Seen, minutes: readonly Tally[]): Promise<boolean> =>
    series.write(id, seen, startOf(0), wholeOf(minutes));

  async function adopt(id: MarketId): Promise<void> {
    const from = await series.from();
    const { seen } = await series.read(id, [], 0, 0);
    const invented = seen.length === 0 ? await former.invented(id) : [];
    // The first process does all of it.
    if (invented.length > 0 && !(await begin(id, { from, seen }, invented))) return;
    await former.drop(id);
  }

  return {
    behind: series.behind,
    markets: series.markets,
    former: former.markets,
    adopt,
    extend,
    rebuild,
    preload,
  };
}

const wholeOf = (minutes: readonly Tally[]): Map<number, Stretch> =>
  new Map(
    INTERVALS_MS.map((intervalMs) => [intervalMs, { offset: 0, candles: rollUp(minutes, intervalMs) }]),
  );
