import { Refusal } from '../../exchange/errors';
import type { Candle, DayFigures, MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { type Micro, micro, type Pips } from '../../exchange/units';
import { createDoubtful } from '../health/doubtful';
import type { DurabilityChecks } from '../health/durability';
import {
  countMatches,
  intervalFor,
  type Mark,
  MINUTE_MS,
  rollUp,
  type Tally,
  unpackMark,
  withVolumes,
} from '../records/candle';
import { ALL, createSeries, MATCHES_MAX, type SeriesOptions } from './series';

const DAY_MS = 86_400_000;
/** Steps of MATCHES_MAX that a read counts itself; the worker catches up with a market that is further behind. */
const TAIL_STEPS_MAX = 10_000;
/** The number of markets whose results a process caches. */
const MARKETS_KEPT = 10_000;

export interface History {
  /**
   * The 24 hours before `nowMs`, to the minute: the trades of all minutes that began in them. The result belongs to the
   * moment of `state`, so that the figures of a view match its sequence.
   */
  day(id: MarketId, state: CountedState, nowMs: number): Promise<DayFigures>;
  /**
   * Returns the buckets with trades from `fromMs` on, oldest first, after the last one before `fromMs` if there is one (only
   * its price counts). `fromMs` is a multiple of `bucketMs`, which is a multiple of a minute. With `buckets`, at least that
   * many are complete; without it, all are.
   */
  candles(id: MarketId, fromMs: number, bucketMs: number, buckets?: number): Promise<readonly Candle[]>;
}

interface HistoryOptions extends SeriesOptions {
  readonly doubts: DurabilityChecks['doubts'];
}

export type CountedState = Pick<MarketState, 'volumeMicro' | 'lastPips' | 'lastTradeMs'>;

/** The values at the beginning of a minute: the market's volume so far and its price, or its very first price. */
interface Opening {
  readonly totalMicro: Micro;
  readonly pricePips: Pips | null;
}

/** Minutes that this process counted after a mark and that are not stored yet. */
interface Tail {
  readonly mark: Mark;
  readonly reached: Mark;
  readonly minutes: readonly Tally[];
}

/**
 * Price history: the stored candles (src/store/candles/writer.ts), and the matches after their mark, which the worker has
 * not counted yet. So every answer is exact at its moment, also with a worker that is late or absent.
 */
export function createHistory(options: HistoryOptions): History {
  const series = createSeries(options);
  const { doubts } = options;
  const tails = createDoubtful<MarketId, Tail>(doubts, MARKETS_KEPT);
  const openings = createDoubtful<MarketId, { fromMs: number; opening: Promise<Opening> }>(
    doubts,
    MARKETS_KEPT,
  );

  /** The minutes after the mark. A tail is replaced, never changed, because readers may use it at the same time. */
  async function tailOf(id: MarketId, seen: Buffer): Promise<readonly Tally[]> {
    const mark = unpackMark(seen);
    const at = doubts();
    const kept = tails.get(id);
    const known = kept && sameMark(kept.mark, mark) ? kept : { mark, reached: mark, minutes: [] };
    const minutes = [...known.minutes];
    let { reached } = known;
    let more = true;
    for (let step = 0; more; step++) {
      if (step === TAIL_STEPS_MAX)
        throw new Refusal('UNAVAILABLE', 'the price history is being computed; retry shortly');
      const entries = await series.everyMatchAfter(id, reached);
      reached = countMatches(minutes, entries, reached);
      more = entries.length === MATCHES_MAX;
    }
    // A match in it may still fail.
    if (minutes.length > 0 && !(await series.mayFail())) tails.keep(id, { mark, reached, minutes }, at);
    else tails.delete(id);
    return minutes;
  }

  async function findOpening(id: MarketId, fromMs: number): Promise<Opening> {
    const { seen, stretches } = await series.read(id, [MINUTE_MS], fromMs, 1);
    const isCounted = unpackMark(seen).lastMs >= fromMs;
    const minutes = [...(stretches[0]?.candles ?? []), ...(isCounted ? [] : await tailOf(id, seen))];
    const before = minutes.findLast(({ startMs }) => startMs < fromMs);
    return {
      totalMicro: before?.totalMicro ?? micro(0),
      pricePips: before?.close ?? minutes[0]?.open ?? null,
    };
  }

  /** Data of a day ago does not change, so a process reads it at most once a minute. */
  function openingOf(id: MarketId, fromMs: number): Promise<Opening> {
    const kept = openings.get(id);
    if (kept?.fromMs === fromMs) return kept.opening;
    const opening = findOpening(id, fromMs);
    openings.keep(id, { fromMs, opening }, doubts());
    opening.catch(() => openings.delete(id));
    return opening;
  }

  return {
    async day(id, { volumeMicro, lastPips, lastTradeMs }, nowMs) {
      const fromMs = Math.ceil((nowMs - DAY_MS) / MINUTE_MS) * MINUTE_MS;
      if (lastTradeMs < fromMs) return { volumeMicro: micro(0), openPips: lastPips };
      const { totalMicro, pricePips } = await openingOf(id, fromMs);
      return { volumeMicro: micro(volumeMicro - totalMicro), openPips: pricePips };
    },
    async candles(id, fromMs, bucketMs, wanted) {
      const intervalMs = intervalFor(bucketMs);
      // Two more than the buckets: the one before them, and the one after them, which shows that they are complete.
      const most = wanted === undefined ? ALL : (wanted * bucketMs) / intervalMs + 2;
      const { seen, stretches } = await series.read(id, [intervalMs], fromMs, most);
      const stored = stretches[0]?.candles ?? [];
      const tail = stored.length < most ? await tailOf(id, seen) : [];
      const buckets = rollUp([...stored, ...tail], bucketMs);
      const carried = buckets.findLastIndex(({ startMs }) => startMs < fromMs);
      return withVolumes(buckets).slice(Math.max(0, carried));
    },
  };
}

const sameMark = (a: Mark, b: Mark): boolean =>
  a.generation === b.generation && a.lastMs === b.lastMs && a.lastSequence === b.lastSequence;
