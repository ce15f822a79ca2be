import type { MarketId } from '../../exchange/market';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** Markets read in one call. */
const LOOK_MAX = 100;

export interface Agenda {
  /** Returns the markets whose closing time has come. */
  due(nowMs: number): Promise<MarketId[]>;
  /** Returns markets to wind up, drawn at random, so that no market waits without end behind the others. */
  ending(): Promise<MarketId[]>;
}

/** The work that is due, by market (lua/lib/agenda.lua). */
export function createAgenda({ redis, keys }: { redis: RedisClient; keys: Keys }): Agenda {
  return {
    due: (nowMs: number): Promise<MarketId[]> =>
      redis.zrangebyscore(keys.closes, '-inf', Math.trunc(nowMs), 'LIMIT', 0, LOOK_MAX),
    ending: async (): Promise<MarketId[]> => (await redis.srandmember(keys.ending, LOOK_MAX)) ?? [],
  };
}
