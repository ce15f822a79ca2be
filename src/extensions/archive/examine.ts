import type { Config } from '../../config/load';
import { type Check, type Silences, unlessSilent } from '../../store/health/doctor';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient } from '../../store/redis/scripts';
import type { Archive } from './archive';
import { examineArchive } from './store/doctor';

interface Examined {
  readonly redis: RedisClient;
  readonly clock: Clock;
  readonly shards: readonly { readonly keys: Keys; readonly archive: Archive | null }[];
}

/** The names of the checks say which of several shards they are about. */
export async function examineArchives(
  config: Pick<Config, 'nodeEnv'>,
  { redis, clock, shards }: Examined,
  silences: Silences,
): Promise<readonly Check[]> {
  const isProduction = config.nodeEnv === 'production';
  const found = await Promise.all(
    shards.map(async (shard, i) => {
      if (silences.has(i)) return [];
      const look = () => examineArchive({ redis, ...shard, now: clock.now, isProduction });
      return shards.length < 2 ? look() : unlessSilent('archive', look);
    }),
  );
  if (shards.length < 2) return found.flat();
  return found.flatMap((checks, shard) =>
    checks.map((check) => ({ ...check, name: `${check.name}-${shard}` })),
  );
}
