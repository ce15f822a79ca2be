import { MODES } from '../../../exchange/status';
import { type ModeFacts, readMode } from '../../../store/health/health';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { readShards } from './layout';
import { createShardModes } from './shard-modes';

interface HaltingOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  /** Keys of the shards that the exchange has. */
  readonly shards: readonly Keys[];
}

const BEFORE = 'before';

async function setMode({ redis, run, shards }: HaltingOptions, to: ModeFacts): Promise<void> {
  const parts = shards.map(({ prefix, mode: key, markets, notice }) => ({
    async setMode(mode: ModeFacts['mode'], message: string | null = null) {
      await run('set_mode', [key, markets, notice], [prefix, MODES.indexOf(mode), message ?? '']);
    },
  }));
  await createShardModes({ redis, shards, parts }).setMode(to.mode, to.message);
}

/**
 * Halts the exchange while it gets more shards, and notes the mode that it had, so that a later run can give it back. A growth that
 * was interrupted has noted it already.
 */
export async function halt(options: HaltingOptions): Promise<void> {
  const { redis, shards } = options;
  const first = shards[0] as Keys;
  const { growing } = await readShards(redis, first);
  const before = await readMode(redis, first);
  // It may have been halted, and the mode before noted, by a run that was interrupted then.
  if (growing === null && (before.mode !== 'HALTED' || (await redis.hexists(first.shardCount, BEFORE)) === 0))
    await redis.hset(first.shardCount, BEFORE, JSON.stringify(before));
  if (growing === null || before.mode !== 'HALTED') await setMode(options, { mode: 'HALTED', message: null });
}

/** Gives the exchange the mode that it had; null when none was noted. */
export async function endHalt(options: HaltingOptions): Promise<ModeFacts | null> {
  const { redis, shards } = options;
  const first = shards[0] as Keys;
  const noted = await redis.hget(first.shardCount, BEFORE);
  if (noted === null) return null;
  const before = JSON.parse(noted) as ModeFacts;
  await setMode(options, before);
  await redis.hdel(first.shardCount, BEFORE);
  return before;
}
