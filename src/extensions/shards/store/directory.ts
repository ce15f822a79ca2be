import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import { partAt } from '../../../store/lists/list';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { ShardCount } from '../../../store/redis/tags';

/** Which shard has a market. A market never moves, so what was found once stays in memory. */
export interface Directory {
  readonly count: ShardCount;
  /** From memory when this process has found it before, else from `{x0}:ms`; null for no market. */
  find(id: MarketId): Promise<number | null>;
  /** The same; throws MARKET_NOT_FOUND for none. */
  shardOf(id: MarketId): Promise<number>;
}

interface DirectoryOptions {
  readonly redis: RedisClient;
  /** Keys of the first shard, which has the directory. */
  readonly keys: Pick<Keys, 'marketShards'>;
  readonly count: ShardCount;
}

/** The most markets of which a process remembers the shard; then it begins again. */
const REMEMBERED_MAX = 100_000;

export function createDirectory({ redis, keys, count }: DirectoryOptions): Directory {
  const found = new Map<MarketId, number>();

  async function find(id: MarketId): Promise<number | null> {
    const known = found.get(id);
    if (known !== undefined) return known;
    const stored = await redis.hget(keys.marketShards, id);
    if (stored === null) return null;
    const shard = Number(stored);
    if (!Number.isInteger(shard) || shard < 0 || shard >= count)
      throw new RangeError(`market ${id} is in shard ${stored}, but there are ${count}`);
    if (found.size >= REMEMBERED_MAX) found.clear();
    found.set(id, shard);
    return shard;
  }

  async function shardOf(id: MarketId): Promise<number> {
    const shard = await find(id);
    if (shard === null) throw new Refusal('MARKET_NOT_FOUND');
    return shard;
  }

  return { count, find, shardOf };
}

/** Runs at the part of the market's shard: throws MARKET_NOT_FOUND for none. */
export async function partOf<T>(directory: Directory, parts: readonly T[], id: MarketId): Promise<T> {
  return partAt(parts, await directory.shardOf(id));
}

/** The part of the market's shard; null for no market. */
export async function findPart<T>(
  directory: Directory,
  parts: readonly T[],
  id: MarketId,
): Promise<T | null> {
  const shard = await directory.find(id);
  return shard === null ? null : partAt(parts, shard);
}
