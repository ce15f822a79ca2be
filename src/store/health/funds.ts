import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The chain that has the funds of a Redis, as it was noted when its data was new. */
export interface FundsMark {
  readonly chainId: number;
  /** 0x, lower case: the contract that settles. */
  readonly exchange: string;
  /** How the contract takes the collateral of a taker: the cost of the match, or first its limit (contracts of version 1). */
  readonly hold: 'cost' | 'limit';
}

/** The mark of this data; null with paper funds, and in an empty Redis. */
export async function readFunds(redis: RedisClient, keys: Keys): Promise<FundsMark | null> {
  const [chain, exchange, hold] = await redis.hmget(keys.funds, 'chain', 'exchange', 'hold');
  return chain ? markOf(chain, exchange ?? '', hold ?? '') : null;
}

/** The mark that these texts name. */
export const markOf = (chain: string, exchange: string, hold: string): FundsMark => ({
  chainId: Number(chain),
  exchange,
  hold: hold === 'limit' ? 'limit' : 'cost',
});
