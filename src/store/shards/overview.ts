import type { Overview } from '../health/overview';
import type { LagGauge, OutboxLag, ReaderLag } from '../outbox/lag';
import { holderOf } from '../redis/holder';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The outboxes as one: of each reader, the place where it is furthest behind. */
export function lagOverShards(parts: readonly LagGauge[]): LagGauge {
  return {
    async look(): Promise<OutboxLag> {
      const lags = await Promise.all(parts.map((part) => part.look()));
      const readers = new Map<ReaderLag['reader'], ReaderLag>();
      for (const { reader, unprocessed, seconds } of lags.flatMap((lag) => lag.readers)) {
        const known = readers.get(reader);
        readers.set(reader, {
          reader,
          unprocessed: Math.max(unprocessed, known?.unprocessed ?? 0),
          seconds: Math.max(seconds, known?.seconds ?? 0),
        });
      }
      const sumOf = (read: (lag: OutboxLag) => number): number =>
        lags.reduce((sum, lag) => sum + read(lag), 0);
      return {
        length: sumOf(({ length }) => length),
        added: sumOf(({ added }) => added),
        readers: [...readers.values()],
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
