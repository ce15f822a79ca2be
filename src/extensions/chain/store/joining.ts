import type { Joining } from '../../../store/people/joining';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** The first sign-in of a wallet, which is granted nothing, because the funds are on a chain. */
export const joinWithoutGrant =
  (redis: RedisClient, keys: Keys, now: () => number): Joining['join'] =>
  async (address) => {
    await redis.hsetnx(keys.profile(addressBytes(address)), 'j', Math.trunc(now()));
  };
