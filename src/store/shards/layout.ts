import { type Layout, noteLayout } from '../health/layout';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/** Markets are spread over several shards since then. */
const FIRST_LAYOUT = 6;

interface Door {
  readonly redis: RedisClient;
  readonly run: RunScript;
}

/** The number of shards of the exchange, noted in its first shard; 1 for an exchange without a note. */
export const readShardCount = async (redis: RedisClient, first: ShardKeys): Promise<number> =>
  Number((await redis.hget(first.shardCount, 'count')) ?? 1);

/**
 * Called at the start of a process, with the keys of as many shards as it is to have: notes their number in a new exchange, and the
 * layout in each. Returns the number of shards that the exchange has; when it is another, no number was noted. One shard is noted by
 * the layout alone, before the number is read: of two processes with different numbers one is refused.
 */
export async function noteShards(
  { redis, run }: Door,
  shards: readonly ShardKeys[],
): Promise<{ readonly count: number; readonly layouts: readonly Layout[] }> {
  const first = shards[0] as ShardKeys;
  const [count, several] = [shards.length, shards.length > 1];
  const noted = several
    ? await run('note_shards', [first.shardCount, first.layout, first.markets], [count, FIRST_LAYOUT])
    : count;
  if (noted !== count) return { count: noted, layouts: [] };
  const layouts = await Promise.all(shards.map((keys) => noteLayout(run, keys)));
  return { count: several ? noted : await readShardCount(redis, first), layouts };
}

/** Returns the reason why a program with `given` shards must not use an exchange of `count`; null when it may. */
export function otherShards(given: number, count: number): string | null {
  if (given === count) return null;
  const advice = `must be ${count}, the number of shards of this exchange: set SHARDS=${count}`;
  return given < count
    ? advice
    : `${advice}; the command that raises it, exchange shards grow, does not exist yet`;
}
