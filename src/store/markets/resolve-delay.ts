import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { isFull } from '../redis/unreachable';

interface Door {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const FIELD = 'resolveDelayMs';

/** Called when web starts, so that the command line gives holders the same time; a full Redis keeps the note that it has. */
export async function noteResolveDelay({ redis, keys }: Door, delayMs: number): Promise<void> {
  await redis.hset(keys.layout, FIELD, delayMs).catch((error: unknown) => {
    if (!isFull(error)) throw error;
  });
}

/** The milliseconds between a result and the payout of the web that started last; null before any has. */
export async function readResolveDelay({ redis, keys }: Door): Promise<number | null> {
  const noted = await redis.hget(keys.layout, FIELD);
  return noted === null ? null : Number(noted);
}
