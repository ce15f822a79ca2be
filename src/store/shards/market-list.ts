import type { MarketView } from '../../exchange/facts';
import type { Standings } from '../health/standing';
import type { MarketList } from '../reads/market-list';
import { coalesce } from '../redis/coalesce';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

interface MarketListOptions {
  readonly redis: RedisClient;
  /** Of the first shard, which lists the markets of all. */
  readonly keys: Pick<ShardKeys, 'allMarkets'>;
  /** Of each shard. */
  readonly parts: readonly MarketList[];
  readonly doubts: Standings['doubts'];
}

/**
 * The markets of all shards in the order in which they were listed. It is read before the lists of the shards, each of which has the
 * market before it is listed, so no listed market is missing. The array stays the same while the list of no shard changes.
 */
export function marketListOverShards({ redis, keys, parts, doubts }: MarketListOptions): MarketList {
  let ids: readonly string[] = [];
  let lists: readonly (readonly MarketView[])[] = [];
  let list: readonly MarketView[] = [];
  let keptAt = doubts();

  return coalesce(async () => {
    const at = doubts();
    const isKept = at === keptAt && (await redis.llen(keys.allMarkets)) === ids.length;
    const listed = isKept ? ids : await redis.lrange(keys.allMarkets, 0, -1);
    const read = await Promise.all(parts.map((part) => part()));
    if (listed === ids && read.every((one, shard) => one === lists[shard])) return list;
    const views = new Map(read.flat().map((view) => [view.terms.id, view]));
    [ids, lists, keptAt] = [listed, read, at];
    list = ids.flatMap((id) => views.get(id) ?? []);
    return list;
  });
}
