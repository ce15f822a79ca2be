import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { nameOf } from '../redis/holder';
import type { RedisClient } from '../redis/scripts';

/** A command to a node that is away may wait for it longer. */
const ANSWER_MS = 3_000;

/** Why there was no answer; null when there was one. Waits no longer than a person would. */
export async function silenceOf(ask: () => Promise<unknown>): Promise<string | null> {
  const limit = new AbortController();
  const late = sleep(ANSWER_MS, `no answer within ${ANSWER_MS / 1_000} s`, { signal: limit.signal });
  late.catch(() => undefined);
  const asked = ask().then(() => null);
  asked.catch(() => undefined);
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    limit.abort();
  }
}

/** Host and port of the masters of a cluster that do not answer. */
export async function silentMasters(redis: RedisClient): Promise<readonly string[]> {
  if (redis instanceof Redis) return [];
  const nodes = new Map(redis.nodes('all').map((node) => [nameOf(node), node]));
  const masters = [...new Set(redis.slots.flatMap((copies) => copies?.slice(0, 1) ?? []))];
  const answers = await Promise.all(
    masters.map(async (name): Promise<readonly string[]> => {
      // The client forgets a node that closed its connection.
      const node = nodes.get(name);
      return node && (await silenceOf(() => node.ping())) === null ? [] : [name];
    }),
  );
  return answers.flat();
}
