import { type Layout, noteLayout } from '../../../store/health/layout';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';

/** The oldest layout whose programs may share an exchange of several shards with this one. */
export const FIRST_LAYOUT = 8;

interface Door {
  readonly redis: RedisClient;
  readonly run: RunScript;
}

export interface NotedShards {
  /** The number of shards of the exchange, noted in its first shard; 1 for an exchange without a note. */
  readonly count: number;
  /** The number that it is getting (grow.ts); null when it is not. */
  readonly growing: number | null;
}

export async function readShards(redis: RedisClient, first: Keys): Promise<NotedShards> {
  const [count, growing] = await redis.hmget(first.shardCount, 'count', 'grow');
  return { count: Number(count ?? 1), growing: growing == null ? null : Number(growing) };
}

/**
 * Called at the start of a process, with the keys of as many shards as it is to have: notes their number in a new exchange, and the
 * layout in each. Returns the number of shards that the exchange has; when it is another, no number was noted. One shard is noted by
 * the layout alone, before the number is read: of two processes with different numbers one is refused.
 */
export async function noteShards(
  { redis, run }: Door,
  shards: readonly Keys[],
): Promise<NotedShards & { readonly layouts: readonly Layout[] }> {
  const first = shards[0] as Keys;
  const [count, several] = [shards.length, shards.length > 1];
  if (several)
    await run('note_shards', [first.shardCount, first.layout, first.markets], [count, FIRST_LAYOUT]);
  const before = several ? await readShards(redis, first) : { count, growing: null };
  if (otherShards(count, before) !== null) return { ...before, layouts: [] };
  const layouts = await Promise.all(shards.map((keys) => noteLayout(run, keys)));
  return { ...(await readShards(redis, first)), layouts };
}

/** Returns the reason why a program with `given` shards must not use an exchange; null when it may. */
export function otherShards(given: number, { count, growing }: NotedShards): string | null {
  if (growing !== null)
    return `is of no use yet: this exchange is getting ${growing} shards; end that with: exchange shards grow --to ${growing}`;
  if (given === count) return null;
  const advice = `must be ${count}, the number of shards of this exchange: set SHARDS=${count}`;
  return given < count ? advice : `${advice}, or give it ${given}: exchange shards grow --to ${given}`;
}
