import { connect, disconnect, ready } from '../src/store/redis/connection';
import { createKeys, type Keys } from '../src/store/redis/keys';
import type { RedisClient } from '../src/store/redis/scripts';

/** A position after every entry. */
const SETTLED = '281474976710655-0';
const READY_MS = 10_000;

/** Marks everything as settled in a benchmark without a worker, whose backlog would refuse new orders otherwise. */
export const withoutWorker = (redis: RedisClient, keys: Keys = createKeys()): Promise<number> =>
  redis.hset(keys.readers, 'settlement', SETTLED);

/** The same for each shard of an exchange; `url` is in the form of REDIS_URL. */
export async function shardsWithoutWorker(url: string, count: number): Promise<void> {
  const redis = connect({ urls: url.split(',') });
  try {
    await ready(redis, READY_MS);
    for (let shard = 0; shard < count; shard++) await withoutWorker(redis, createKeys(shard));
  } finally {
    disconnect(redis);
  }
}
