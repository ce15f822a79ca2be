import { createRecent } from '../../exchange/recent';
import { allowanceKey } from '../../store/redis/keys';
import type { RunScript } from '../../store/redis/scripts';
import type { Rate } from '../../wire/limits';

/**
 * An allowance that refills steadily, decided in memory at once and shared by the replicas: a process reports the points
 * it granted to Redis, some at a time, and receives the sum of all replicas. So the hot path waits for nothing, and every
 * process enforces the limit by itself when Redis is full or away.
 */
export interface Allowance {
  /** Takes points if they are available. */
  take(key: string, points: number): Left;
  /** Takes points even if they are missing, because the request they pay for was already served. */
  charge(key: string, points: number): void;
  /** Reads at once the points that the other replicas granted. */
  learn(key: string): Promise<void>;
}

export interface Left {
  readonly points: number;
  /** 0 when the points were taken. */
  readonly waitMs: number;
}

interface Entry {
  points: number;
  atMs: number;
  /** Points counted here and not yet reported to Redis. */
  unreported: number;
}

interface AllowanceOptions {
  readonly run: RunScript;
  readonly name: string;
  readonly rate: Rate;
  /** Points that are reported together; each replica may grant that many too many. */
  readonly reportedEach: number;
}

/** The most addresses in memory. A forgotten address was quiet, and Redis still has its reported points. */
const KEYS_MAX = 10_000;

export function createAllowance({ run, name, rate, reportedEach }: AllowanceOptions): Allowance {
  const most = rate.points + rate.burst;
  const perMs = rate.points / (rate.durationSec * 1_000);
  const microsEach = Math.round(1_000 / perMs);
  const entries = createRecent<Entry>(KEYS_MAX);

  /** The present value. */
  function entryOf(key: string): Entry {
    const nowMs = performance.now();
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { points: most, atMs: nowMs, unreported: 0 };
      entries.put(key, entry);
    }
    entry.points = Math.min(most, entry.points + (nowMs - entry.atMs) * perMs);
    entry.atMs = nowMs;
    return entry;
  }

  async function report(key: string, entry: Entry): Promise<void> {
    const points = entry.unreported;
    entry.unreported = 0;
    const untilWhole = Number(await run('take_points', [allowanceKey(name, key)], [points, microsEach]));
    const { unreported } = entryOf(key);
    entry.points = Math.min(entry.points, most - untilWhole / microsEach - unreported);
  }

  /** Without Redis the count of this process alone applies. */
  const reportQuietly = (key: string, entry: Entry): Promise<void> =>
    report(key, entry).catch(() => undefined);

  function charge(key: string, points: number, entry = entryOf(key)): void {
    entry.points -= points;
    entry.unreported += points;
    if (entry.unreported >= reportedEach) void reportQuietly(key, entry);
  }

  return {
    take(key, points) {
      const entry = entryOf(key);
      const missing = Math.max(1, points) - entry.points;
      if (missing > 0) return { points: entry.points, waitMs: missing / perMs };
      charge(key, points, entry);
      return { points: entry.points, waitMs: 0 };
    },
    charge: (key, points) => charge(key, points),
    learn: (key) => reportQuietly(key, entryOf(key)),
  };
}
