import { isBefore, NO_ENTRY } from '../redis/entry-id';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { KEEP_MS } from './forgetting';

/** How far the archive is, as Redis knows it. */
export interface ArchiveProgress {
  /** Null while no archive was ever opened. */
  readonly id: string | null;
  /** The latest batch of which anything left Redis. */
  readonly batch: number;
  /** Orders that left. */
  readonly forgotten: number;
  /** All orders are being gone over. */
  readonly isSweeping: boolean;
  /** Age of what it takes next, beyond the time that orders stay anyway. */
  readonly lagMs: number;
}

interface ProgressOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** By the clock of Redis. */
  readonly now: () => number;
}

export async function archiveProgress({ redis, keys, now }: ProgressOptions): Promise<ArchiveProgress> {
  const [[id = null, batch, forgotten, sweep], position] = await Promise.all([
    redis.hmget(keys.archive, 'id', 'n', 'orders', 'sweep'),
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
  return {
    id,
    batch: Number(batch ?? 0),
    forgotten: Number(forgotten ?? 0),
    isSweeping: sweep !== null,
    lagMs: id === null ? 0 : Math.max(0, now() - KEEP_MS - nextMs),
  };
}
