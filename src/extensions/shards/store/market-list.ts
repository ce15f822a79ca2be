import type { MarketView } from '../../../exchange/facts';
import type { DurabilityChecks } from '../../../store/health/durability';
import type { MarketList } from '../../../store/reads/market-list';
import { coalesce } from '../../../store/redis/coalesce';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { withStaleFallback } from './stale-fallback';

interface MarketListOptions {
  readonly redis: RedisClient;
  /** Keys of the first shard, which lists the markets of all. */
  readonly keys: Pick<Keys, 'allMarkets'>;
  /** List of each shard. */
  readonly parts: readonly MarketList[];
  readonly doubts: DurabilityChecks['doubts'];
}

/**
 * The markets of all shards in the order in which they were listed. It is read before the lists of the shards, each of which has the
 * market before it is listed, so no listed market is missing. The array stays the same while the list of no shard changes.
 *
 * The markets of a shard that does not answer are those of the last time that this process listed them. One that it never listed is
 * missing until the shard is back.
 */
export function marketListOverShards({ redis, keys, parts, doubts }: MarketListOptions): MarketList {
  let ids: readonly string[] = [];
  let keptAt = doubts();
  let shown: readonly unknown[] = [];
  let list: readonly MarketView[] = [];

  const idsNow = withStaleFallback(
    coalesce(async () => {
      const at = doubts();
      const isKept = at === keptAt && (await redis.llen(keys.allMarkets)) === ids.length;
      if (!isKept) [ids, keptAt] = [await redis.lrange(keys.allMarkets, 0, -1), at];
      return ids;
    }),
  );
  const partsNow = parts.map((part) => withStaleFallback(part));

  return coalesce(async () => {
    const listed = await idsNow();
    const read = await Promise.all(partsNow.map((part) => part()));
    if ([listed, ...read].every((one, i) => one === shown[i])) return list;
    const views = new Map(read.flat().map((view) => [view.terms.id, view]));
    list = listed.flatMap((id) => views.get(id) ?? []);
    shown = [listed, ...read];
    return list;
  });
}

/** The greatest age of what a process knows about the markets of a shard, when the shard falls silent. */
const EVERY_MS = 5_000;

/** Lists the markets every few seconds, because a shard that falls silent is listed as this process saw it last. */
export function createMarketListRefresh(marketList: MarketList) {
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Resolves after the first list; rejects when a shard does not answer. */
    async start(): Promise<void> {
      await marketList();
      // The next turn looks again.
      timer = setInterval(() => void marketList().catch(() => undefined), EVERY_MS);
      timer.unref();
    },
    stop: (): void => clearInterval(timer),
  };
}
