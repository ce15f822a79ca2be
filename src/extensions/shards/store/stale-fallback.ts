import { setTimeout as sleep } from 'node:timers/promises';
import { isRedisUnreachable } from '../../../store/redis/unreachable';

/**
 * How long a reader waits for a shard that did not answer last time; one that is back answers within this. Without that limit every
 * reader would wait for the time-out of a command.
 */
const AWAY_WAIT_MS = 250;

/** Returns the result of `read` or, while its shard does not answer, the last one. Rejects when there is none yet. */
export function withStaleFallback<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { readonly value: T } | null = null;
  let isAway = false;

  async function now(): Promise<T> {
    try {
      const value = await read();
      last = { value };
      isAway = false;
      return value;
    } catch (error) {
      if (last === null || !isRedisUnreachable(error)) throw error;
      isAway = true;
      return last.value;
    }
  }

  return async () => {
    if (last === null || !isAway) return now();
    const limit = new AbortController();
    try {
      return await Promise.race([now(), sleep(AWAY_WAIT_MS, last.value, { signal: limit.signal })]);
    } finally {
      limit.abort();
    }
  };
}
