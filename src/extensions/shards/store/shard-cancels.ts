import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import { hashBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Cancels } from '../../../store/verbs/cancels';
import { askAll, firstOf, orThrow } from './ask-all';

interface ShardCancelsOptions {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
  /** Archived reads of each shard. */
  readonly archivedByShard: readonly ArchivedReads[];
  readonly parts: readonly Cancels[];
  readonly shardOf: (marketId: MarketId) => Promise<number>;
  readonly part: (marketId: MarketId) => Promise<Cancels>;
}

/** The verbs that end single orders, over several shards. */
export function createShardCancels(options: ShardCancelsOptions): Cancels {
  const { redis, shards, archivedByShard, parts, shardOf, part } = options;

  /** The shard of an order, wherever it is; null when there is no such order. */
  async function find(orderHash: string): Promise<number | null> {
    const shard = await look(orderHash);
    if (shard !== null) return shard;
    // Whatever leaves Redis is in the archive before.
    for (const archivedReads of new Set(archivedByShard)) {
      const record = (await archivedReads.records([orderHash])).get(orderHash);
      if (record) return shardOf(record.marketId);
    }
    return null;
  }

  /** Asks all shards at once. A shard that is silent matters only when no other has the order. */
  async function look(orderHash: string): Promise<number | null> {
    const hash = hashBytes(orderHash);
    const { found, silent } = await firstOf(
      shards.map(async ({ orders }, shard) => ((await redis.hexists(orders, hash)) === 1 ? shard : null)),
    );
    if (found === null && silent.length > 0)
      throw new Refusal('UNAVAILABLE', 'the part of the exchange that may have this order is silent; retry');
    return found;
  }

  /** As with one shard, an order in a market that does not exist is not found. */
  const shardIn = (marketId: MarketId): Promise<number | null> =>
    shardOf(marketId).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'MARKET_NOT_FOUND') return null;
      throw error;
    });

  const cancel: Cancels['cancel'] = async (marketId, maker, orderHash, reason) => {
    const shard = marketId === null ? await find(orderHash) : await shardIn(marketId);
    const holder = shard === null ? undefined : parts[shard];
    if (shard === null || !holder) throw new Refusal('ORDER_NOT_FOUND');
    return holder.cancel(marketId, maker, orderHash, reason);
  };

  const expire: Cancels['expire'] = async (most) => {
    const everywhere = [...parts.keys()];
    const answers = await askAll(everywhere, (shard) => (parts[shard] as Cancels).expire(most));
    const steps = [...orThrow(answers).values()];
    return {
      expired: steps.reduce((sum, { expired }) => sum + expired, 0),
      waiting: steps.some(({ waiting }) => waiting),
    };
  };

  return {
    cancel,
    expire,
    cancelMany: async (marketId, ...rest) => (await part(marketId)).cancelMany(marketId, ...rest),
    clearBook: async (marketId, most) => (await part(marketId)).clearBook(marketId, most),
  };
}
