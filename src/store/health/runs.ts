import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';

/** The commands that an operator runs by the clock, and whose last run is noted in Redis. */
export const TIMED = ['backup', 'audit'] as const;
export type Timed = (typeof TIMED)[number];

/** When a command succeeded and failed last, milliseconds by the clock of Redis; 0 for never. */
export interface LastRun {
  readonly succeededMs: number;
  readonly failedMs: number;
}

interface RunsOptions {
  readonly redis: RedisClient;
  /** The keys of the first partition. */
  readonly keys: Keys;
}

/** A daily command that is half a day late. */
const LATE_MS = 129_600_000;

export async function noteRun(
  { redis, keys }: RunsOptions,
  command: Timed,
  hasSucceeded: boolean,
  nowMs: number,
): Promise<void> {
  await redis.hset(keys.runs, `${command}:${hasSucceeded ? 'succeeded' : 'failed'}`, Math.floor(nowMs));
}

export async function readRuns({ redis, keys }: RunsOptions): Promise<Readonly<Record<Timed, LastRun>>> {
  const stored = await redis.hgetall(keys.runs);
  const at = (name: string): number => Number(stored[name] ?? 0);
  const runOf = (command: Timed): LastRun => ({
    succeededMs: at(`${command}:succeeded`),
    failedMs: at(`${command}:failed`),
  });
  return { backup: runOf('backup'), audit: runOf('audit') };
}

/** A line for each command; an exchange without a market needs neither. */
export async function examineRuns(options: RunsOptions, nowMs: number): Promise<readonly Check[]> {
  const [runs, isEmpty] = await Promise.all([
    readRuns(options),
    options.redis.exists(options.keys.markets).then((count) => count === 0),
  ]);
  return TIMED.map((name): Check => {
    const { succeededMs, failedMs } = runs[name];
    const last = succeededMs === 0 ? 'never' : new Date(succeededMs).toISOString();
    if (failedMs > succeededMs)
      return {
        name,
        verdict: 'warn',
        detail: `failed at ${new Date(failedMs).toISOString()}, and succeeded ${last}`,
      };
    const isLate = !isEmpty && nowMs - succeededMs > LATE_MS;
    const detail = succeededMs === 0 ? 'has never succeeded' : `succeeded last: ${last}`;
    return { name, verdict: isLate ? 'warn' : 'ok', detail };
  });
}
