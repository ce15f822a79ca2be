import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** The marks of one home (src/extensions/shards/lua/log_shard_events.lua); empty while no log is open there, null when it does not answer. */
export type Marks = Readonly<Record<string, string>> | null;

export interface HomeMarks {
  /** The marks at every home, not older than `maxAgeMs`. */
  read(maxAgeMs: number): Promise<readonly Marks[]>;
}

/** The outboxes that a process reads wait for the same first log, so they look for it together. */
export function createHomeMarks({
  redis,
  shards,
}: {
  redis: RedisClient;
  shards: readonly Keys[];
}): HomeMarks {
  let found: Promise<readonly Marks[]> = Promise.resolve([]);
  let askedAtMs = Number.NEGATIVE_INFINITY;

  const marksOf = (keys: Keys): Promise<Marks> => redis.hgetall(keys.accountMarks).catch(() => null);

  return {
    read(maxAgeMs) {
      if (performance.now() - askedAtMs < maxAgeMs) return found;
      askedAtMs = performance.now();
      found = Promise.all(shards.map(marksOf));
      return found;
    },
  };
}
