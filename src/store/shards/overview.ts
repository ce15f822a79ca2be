import type { Overview } from '../health/overview';
import type { LagGauge, OutboxLag } from '../outbox/lag';
import { READERS } from '../outbox/outbox';
import { holderOf } from '../redis/holder';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The outboxes of all shards: the sum of what they have, and for each reader the shard in which it is latest. */
export function lagOverShards(parts: readonly LagGauge[]): LagGauge {
  return {
    async look(): Promise<OutboxLag> {
      const all = await Promise.all(parts.map((part) => part.look()));
      const sum = (of: (one: OutboxLag) => number): number => all.reduce((so, one) => so + of(one), 0);
      return {
        length: sum(({ length }) => length),
        added: sum(({ added }) => added),
        readers: READERS.map((reader) => {
          const own = all.flatMap(({ readers }) => readers.filter((one) => one.reader === reader));
          return {
            reader,
            unprocessed: own.reduce((so, { unprocessed }) => so + unprocessed, 0),
            seconds: Math.max(0, ...own.map(({ seconds }) => seconds)),
          };
        }),
      };
    },
  };
}

/** The overview of one shard, with the memory of every Redis that has a shard. */
export function overviewOverShards(
  overview: () => Promise<Overview>,
  { redis, shards }: { readonly redis: RedisClient; readonly shards: readonly ShardKeys[] },
): () => Promise<Overview> {
  return async () => {
    const holders = [...new Set(shards.map((keys) => holderOf(redis, keys)))];
    const [found, ...infos] = await Promise.all([overview(), ...holders.map((node) => node.info('memory'))]);
    const figures = (name: string): number[] =>
      infos.map((info) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0));
    const limits = figures('maxmemory');
    return {
      ...found,
      redis: {
        ...found.redis,
        usedBytes: figures('used_memory').reduce((sum, bytes) => sum + bytes, 0),
        maxBytes: limits.includes(0) ? null : limits.reduce((sum, bytes) => sum + bytes, 0),
      },
    };
  };
}
