import { type ShardKeys, shardKeys } from '../src/store/redis/keys';
import type { RedisClient } from '../src/store/redis/scripts';

/** A position after every entry. */
const SETTLED = '281474976710655-0';

/** For a benchmark without a worker. Otherwise the work that is left to it becomes a backlog, and new orders are refused. */
export const withoutWorker = (redis: RedisClient, keys: ShardKeys = shardKeys()): Promise<number> =>
  redis.hset(keys.readers, 'settlement', SETTLED);
