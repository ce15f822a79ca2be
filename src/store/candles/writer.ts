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
import { createSeries, END_MS, MATCHES_MAX, type SeriesOptions, type Stretch } from './series';

/** The prices of one minute, in pips. */
export type MinutePrices = Readonly<Record<'startMs' | 'open' | 'high' | 'low' | 'close', number>>;

/** The most steps of MATCHES_MAX for one market's history, and the most attempts to write its candles before another writer. */
const REBUILD_STEPS_MAX = 1_000_000;
const REPLACE_TRIES_MAX = 1_000;

export interface CandleWriter {
  /** Returns the markets with uncounted matches. */
  behind(): Promise<MarketId[]>;
  markets(): Promise<MarketId[]>;
  /** Counts the next matches of a market; returns whether there may be more. */
  extend(id: MarketId): Promise<boolean>;
  /**
   * Counts all matches of a market again and replaces its stored candles, while trading, reading and counting continue.
   * Returns the number of matches counted; null and the candles stay when the archive has dropped matches for their age.
   */
  rebuild(id: MarketId): Promise<number | null>;
  /**
   * Writes minutes before a market's first match, without volume, for demonstrations. Returns false and writes nothing when
   * the market already has counted data. Counting continues after these minutes. A rebuild deletes them, because no match
   * supports them.
   */
  preload(id: MarketId, minutes: readonly MinutePrices[]): Promise<boolean>;
}

/**
 * Counts matches into the stored candles. Each match is counted once: one script writes candles and mark together, and only
 * if the mark is still the one that the writer read. A writer that is too late changes nothing.
 */
export function createCandleWriter(options: SeriesOptions): CandleWriter {
  const series = createSeries(options);

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

  async function rebuild(id: MarketId): Promise<number | null> {
    const from = await series.from();
    const total = await series.total(id);
    const minutes: Tally[] = [];
    let reached = startOf(0);
    let count = 0;
    let more = true;
    for (let step = 0; more; step++) {
      if (step === REBUILD_STEPS_MAX)
        throw new Error(`market ${id} has more matches than can be counted again`);
      const entries = await series.everyMatchAfter(id, reached, true);
      reached = countMatches(minutes, entries, reached);
      count += entries.length;
      more = entries.length === MATCHES_MAX;
    }
    // With funds on a chain the last matches may be open; nothing is dropped there.
    if (count < total && !(await series.mayFail())) return null;
    const whole = wholeOf(minutes);
    for (let attempt = 0; attempt < REPLACE_TRIES_MAX; attempt++) {
      const { seen } = await series.read(id, [], 0, 0);
      // A writer that has read the old series must not write to the new one, whose offsets may differ.
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
        startMs,
        open: pips(open),
        high: pips(high),
        low: pips(low),
        close: pips(close),
        ...NO_TOTALS,
      }),
    );
    return series.write(id, { from, seen }, startOf(0), wholeOf(tallies));
  }

  return {
    behind: series.behind,
    markets: series.markets,
    extend,
    rebuild,
    preload,
  };
}

const wholeOf = (minutes: readonly Tally[]): Map<number, Stretch> =>
  new Map(
    INTERVALS_MS.map((intervalMs) => [intervalMs, { offset: 0, candles: rollUp(minutes, intervalMs) }]),
  );
