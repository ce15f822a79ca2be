import type { MarketId } from '../../exchange/market';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** Markets of one look. */
const LOOK_MAX = 100;

export type Agenda = ReturnType<typeof createAgenda>;

/** The work that is due, by market (lua/lib/agenda.lua). */
export function createAgenda({ redis, keys }: { redis: RedisClient; keys: ShardKeys }) {
  return {
    /** Markets whose closing time has come. */
    due: (nowMs: number): Promise<MarketId[]> =>
      redis.zrangebyscore(keys.closes, '-inf', Math.trunc(nowMs), 'LIMIT', 0, LOOK_MAX),
    /** Markets that are to be wound up, drawn at random, so that no market waits without end behind the others. */
    ending: async (): Promise<MarketId[]> => (await redis.srandmember(keys.ending, LOOK_MAX)) ?? [],
  };
}
