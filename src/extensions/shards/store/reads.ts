import type { MarketId } from '../../../exchange/market';
import type { History } from '../../../store/candles/history';
import type { DurabilityChecks } from '../../../store/health/durability';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import { overPartitions, partAt } from '../../../store/lists/list';
import type { AnswerCache } from '../../../store/reads/answer-cache';
import type { OrderReads } from '../../../store/reads/orders';
import { cachedMarkets, type Reads } from '../../../store/reads/reads';
import { createWalletIndex, ordersOf, type WalletReads } from '../../../store/reads/wallet-orders';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { createBalances } from './balances';
import { type Directory, findPart, partOf } from './directory';
import type { OrderPlaces } from './order-places';
import { walletIndexOverShards } from './wallet-orders';
import type { WalletShards } from './wallet-shards';

interface ReadsOverShardsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly directory: Directory;
  readonly wallets: WalletShards;
  readonly places: OrderPlaces;
  /** The hash of the names of all markets, in the first shard. */
  readonly names: string;
  /** Parts of each shard, in their order. */
  readonly shards: readonly {
    readonly keys: Keys;
    readonly archivedReads: ArchivedReads;
    readonly reads: Reads;
  }[];
  readonly doubts: DurabilityChecks['doubts'];
  readonly grantMicro: number;
}

/**
 * Everything that an exchange of several shards shows. Each market is read in its shard. The reads of a wallet ask all of its shards and
 * put their answers together; when one of these does not answer, the read fails.
 */
export function readsOverShards(options: ReadsOverShardsOptions): Reads {
  const { redis, run, directory, wallets, places, names, doubts, grantMicro } = options;
  const parts = options.shards.map(({ reads }) => reads);
  const keys = options.shards.map((shard) => shard.keys);
  const first = partAt(parts, 0);
  const of = (id: MarketId): Promise<Reads> => partOf(directory, parts, id);

  const market = cachedMarkets(doubts, async (key) => {
    const id = await redis.hget(names, key);
    const part = id && (await findPart(directory, parts, id));
    return part ? part.market(id) : null;
  });

  const orders = ordersOverShards(parts, directory, places);
  return {
    market,
    view: async (id) => (await of(id)).view(id),
    snapshot: async (id, trades) => (await of(id)).snapshot(id, trades),
    trades: async (id, page) => (await of(id)).trades(id, page),
    candles: async (id, ...asked) => (await of(id)).candles(id, ...asked),
    balances: createBalances({ run, shards: keys, wallets, market, grantMicro }),
    nonce: (address) => partAt(parts, wallets.homeOf(address)).nonce(address),
    settledLots: first.settledLots,
    ...orders,
    ...walletsOverShards(options, parts, orders.views),
    clock: first.clock,
    mode: first.mode,
    kept: keptOverShards(
      parts.map(({ kept }) => kept),
      directory,
    ),
  };
}

/** Reads of orders by their hashes. */
function ordersOverShards(parts: readonly Reads[], directory: Directory, places: OrderPlaces): OrderReads {
  const ask = <T>(hash: string, question: (part: Reads) => Promise<T | null>): Promise<T | null> =>
    places.ask(hash, (shard) => question(partAt(parts, shard)));

  return {
    order: (hash) => ask(hash, (part) => part.order(hash)),
    placed: (hash) => ask(hash, (part) => part.placed(hash)),
    orderFills: (hash, page) => ask(hash, (part) => part.orderFills(hash, page)),
    shownFills: async (record, fills) =>
      (await partOf(directory, parts, record.marketId)).shownFills(record, fills),
    views: (found) =>
      overPartitions(
        found,
        ({ record }) => directory.shardOf(record.marketId),
        (shard, own) => partAt(parts, shard).views(own),
      ),
    records: places.records,
  };
}

/** The lists of a wallet's orders. A list of one market is that of its shard, with the same cursors. */
function walletsOverShards(
  { redis, shards, directory, wallets }: ReadsOverShardsOptions,
  parts: readonly Reads[],
  views: OrderReads['views'],
): WalletReads {
  const indexes = shards.map(({ keys, archivedReads }) => createWalletIndex({ redis, keys, archivedReads }));
  const everywhere = ordersOf(walletIndexOverShards(indexes, wallets), views);

  async function openCount(address: string): Promise<number> {
    const asked = (await wallets.shardsOf(address)).map((shard) => partAt(parts, shard).openCount(address));
    return (await Promise.all(asked)).reduce((sum, count) => sum + count, 0);
  }

  return {
    openCount,
    async orders(address, filter, page) {
      if (filter.marketId === undefined) return everywhere(address, filter, page);
      const part = await findPart(directory, parts, filter.marketId);
      return part ? part.orders(address, filter, page) : { orders: [], next: null, looked: 0 };
    },
  };
}

/** The answers of all shards are in one cache: their moments have the names of their markets. */
function keptOverShards(parts: readonly AnswerCache[], directory: Directory): AnswerCache {
  const first = partAt(parts, 0);
  return {
    market: async (id) => (await findPart(directory, parts, id))?.market(id) ?? null,
    /** Profiles are in the first shard, comments in that of their market. */
    async talk(marketId) {
      const profiles = await first.talk();
      const shard = marketId === undefined ? 0 : ((await directory.find(marketId)) ?? 0);
      if (shard === 0) return profiles;
      const { stamp } = await partAt(parts, shard).talk();
      return { ...profiles, stamp: `${profiles.stamp} ${stamp}` };
    },
    answer: first.answer,
  };
}

/** The price histories of the markets. */
export function historyOverShards(parts: readonly History[], directory: Directory): History {
  return {
    day: async (id, ...asked) => (await partOf(directory, parts, id)).day(id, ...asked),
    candles: async (id, ...asked) => (await partOf(directory, parts, id)).candles(id, ...asked),
  };
}
