import { createOutboxLag } from '../src/store/outbox/lag';
import { unpackMark } from '../src/store/records/candle';
import { createKeys } from '../src/store/redis/keys';
import type { RedisClient } from '../src/store/redis/scripts';
import { READERS } from '../test/support/readers';
import { slope } from './figures';

/** The backlog of everything that follows a match. */
export interface Pulse {
  readonly atMs: number;
  /** Entries of the outbox, processed ones included: they stay for a minute. */
  readonly length: number;
  /** Entries that the slower of broadcaster and relay has not processed. */
  readonly unprocessed: number;
  readonly matches: number;
  readonly settled: number;
  /** Age of the oldest match that the wallets' journals lack, and of the oldest that the candles lack. */
  readonly journalSeconds: number;
  readonly candlesSeconds: number;
}

const keys = createKeys();

/** Reads the state of one market; all times come from Redis, by its ids. */
export function createPulse(redis: RedisClient, marketId: string): () => Promise<Pulse> {
  const lag = createOutboxLag({ redis, keys, readers: READERS, now: Date.now });

  /** The time from the first unprocessed entry to the latest. */
  async function secondsBehind(stream: string, done: string): Promise<number> {
    const [[oldest], [latest]] = await Promise.all([
      redis.xrange(stream, `(${done}`, '+', 'COUNT', 1),
      redis.xrevrange(stream, '+', '-', 'COUNT', 1),
    ]);
    return oldest && latest ? Math.max(AT_LEAST_MS, msOf(latest[0]) - msOf(oldest[0])) / 1_000 : 0;
  }

  return async () => {
    const [{ length, readers }, matches, settled, journal, mark] = await Promise.all([
      lag.look(),
      redis.xlen(keys.trades(marketId)),
      redis.xlen(keys.settlementList),
      redis.hget(keys.readers, 'journal'),
      redis.hgetBuffer(keys.candleMarks, marketId),
    ]);
    const { lastMs, lastSequence } = unpackMark(mark ?? Buffer.alloc(0));
    const [journalSeconds, candlesSeconds] = await Promise.all([
      secondsBehind(keys.outbox, journal ?? '0-0'),
      secondsBehind(keys.trades(marketId), `${lastMs}-${lastSequence}`),
    ]);
    return {
      atMs: performance.now(),
      length,
      unprocessed: Math.max(0, ...readers.map((reader) => reader.unprocessed)),
      matches,
      settled,
      journalSeconds,
      candlesSeconds,
    };
  };
}

const msOf = (id: string): number => Number(id.split('-')[0]);

/** One unprocessed entry counts as a backlog, however young. */
const AT_LEAST_MS = 1;

/** The growth in a second, of the later two thirds of the pulses: the first third is the start-up. */
export function growth(pulses: readonly Pulse[], of: (pulse: Pulse) => number): number {
  const later = pulses.slice(Math.floor(pulses.length / 3));
  return slope(later.map((pulse) => ({ x: pulse.atMs / 1_000, y: of(pulse) })));
}

/** Entries of backlog in a second for each hundred new ones: noise of a few seconds. */
const BEHIND_PART = 0.05;
/** Journals are written every second, candles every two; work that takes longer than its interval soon falls behind. */
const JOURNAL_SECONDS = 2;
const CANDLES_SECONDS = 4;
/** Scheduled work is always a little behind, so its worst moments are compared. */
const LATER_SECONDS = 1;

/** Whether the backlog does not grow at this rate of orders. */
export function keepsUp(pulses: readonly Pulse[], ordersPerSecond: number): boolean {
  return (
    growth(pulses, ({ unprocessed }) => unprocessed) <= BEHIND_PART * ordersPerSecond &&
    growth(pulses, ({ matches, settled }) => matches - settled) <= BEHIND_PART * ordersPerSecond &&
    isPunctual(pulses, ({ journalSeconds }) => journalSeconds, JOURNAL_SECONDS) &&
    isPunctual(pulses, ({ candlesSeconds }) => candlesSeconds, CANDLES_SECONDS)
  );
}

/** The worst of the last third, and its growth since the third before it. */
function isPunctual(pulses: readonly Pulse[], of: (pulse: Pulse) => number, most: number): boolean {
  const third = Math.floor(pulses.length / 3);
  const worst = (part: readonly Pulse[]): number => Math.max(...part.map(of));
  const last = worst(pulses.slice(-third));
  return last <= most && last - worst(pulses.slice(-2 * third, -third)) <= LATER_SECONDS;
}
