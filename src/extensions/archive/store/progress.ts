import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { PICK_MS } from './forgetting';

/** The numbers of records that have left Redis, ever. */
export type LeftCounts = Readonly<Record<(typeof LEFT_KINDS)[number], number>>;
export const LEFT_KINDS = ['orders', 'matches', 'lines', 'markets'] as const;

/** How far the archive is, as Redis knows it. */
export interface ArchiveProgress {
  /** Null while no archive was ever opened. */
  readonly id: string | null;
  /** The latest batch of which anything left Redis. */
  readonly batch: number;
  readonly left: LeftCounts;
  /** Everything in Redis is being gone over. */
  readonly isSweeping: boolean;
  /** Age of what it takes next, of any kind, beyond the time for which it stays anyway. */
  readonly lagMs: number;
  /** The time of the oldest match that should have left and may not, as behind a settlement that FAILED; null without one. */
  readonly heldMs: number | null;
}

interface ProgressOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** By the clock of Redis. */
  readonly now: () => number;
}

export async function archiveProgress({ redis, keys, now }: ProgressOptions): Promise<ArchiveProgress> {
  const [[id = null, batch, sweep, held], left, position] = await Promise.all([
    redis.hmget(keys.archive, 'id', 'n', 'sweep', 'held'),
    redis.hmget(keys.archive, ...LEFT_KINDS),
    redis.hget(keys.readers, 'archive'),
  ]);
  const behind = position ?? NO_ENTRY;
  const [next] = await redis.xrangeBuffer(
    keys.outbox,
    isBefore(NO_ENTRY, behind) ? `(${behind}` : '-',
    '+',
    'COUNT',
    1,
  );
  const nextMs = next ? Number(next[0].toString().split('-')[0]) : Number.POSITIVE_INFINITY;
  const heldMs = held ? Number(held) : null;
  const oldestMs = Math.min(nextMs, heldMs ?? nextMs);
  return {
    id,
    batch: Number(batch ?? 0),
    left: Object.fromEntries(LEFT_KINDS.map((kind, i) => [kind, Number(left[i] ?? 0)])) as LeftCounts,
    isSweeping: sweep !== null,
    lagMs: id === null ? 0 : Math.max(0, now() - PICK_MS - oldestMs),
    heldMs,
  };
}
