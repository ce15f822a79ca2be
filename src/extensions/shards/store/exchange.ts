import type { Host } from '../../../app/host';
import type { Exchange, ExchangeOptions, NodeChecks, OpenExchange, Placement } from '../../../store/exchange';
import { partAt } from '../../../store/lists/list';
import { openMarkets, type Partition } from '../../../store/partition';
import { createKeys } from '../../../store/redis/keys';
import type { Engine } from '../../../store/verbs/engine';
import { auditOverShards } from './audit';
import { broadcastsOverShards } from './broadcasts';
import { type Channels, createChannels } from './channels';
import { createDirectory } from './directory';
import { durabilityOverShards } from './durability';
import { createShards } from './engine';
import { healthOverShards } from './health';
import { openHomeLogs } from './log-writer';
import { createMarketListRefresh, marketListOverShards } from './market-list';
import { createListing } from './markets';
import { countedOperations, operationsOverShards } from './operations';
import { readingOverShards } from './reading';
import { createWalletShards } from './wallet-shards';

/** What the shards of an exchange have together, for the chores of a worker. */
export interface BetweenShards {
  readonly channels: Channels;
  /** Creates and lists the markets that were only claimed. */
  readonly finishListing: () => Promise<void>;
}

interface ShardedExchange extends Exchange {
  readonly betweenShards: BetweenShards;
}

const isSharded = (exchange: Exchange): exchange is ShardedExchange => 'betweenShards' in exchange;

/** The nodes are the same for all shards, so the first one checks them. */
const NO_NODES: NodeChecks = { examine: async () => [], contradiction: async () => null };

/** Null for an exchange with one shard. */
export const betweenShardsOf = (exchange: Exchange): BetweenShards | null =>
  isSharded(exchange) ? exchange.betweenShards : null;

/** Opens as many shards as SHARDS says, each an exchange by itself, and puts them together. One shard is the exchange. */
export function overShards(open: OpenExchange, host: Host): OpenExchange {
  const { shards: count } = host.config;
  return count === 1 ? (options) => openOnly(open, options) : (options) => openSeveral(open, options, host);
}

/** An exchange of several shards is not served as one of a single shard. */
async function openOnly(open: OpenExchange, options: ExchangeOptions): Promise<Exchange> {
  const exchange = await open(options);
  return { ...exchange, operations: countedOperations(options, exchange.operations) };
}

async function openSeveral(
  open: OpenExchange,
  options: ExchangeOptions,
  { config, log, metrics, connect }: Host,
): Promise<ShardedExchange> {
  const count = config.shards;
  const { redis, run, grantMicro } = options;
  const waiting = await connect();
  const shards = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      open({
        ...options,
        number,
        count,
        keys: createKeys(number),
        nodes: number === 0 ? options.nodes : NO_NODES,
        // The time of the exchange is that of its first shard.
        clock: number === 0 ? options.clock : { now: options.clock.now, observe: () => undefined },
      }),
    ),
  ).catch((error: unknown) => {
    waiting.close();
    throw error;
  });
  const parts = shards.flatMap(({ partitions }) => partitions);
  const keys = parts.map((part) => part.keys);
  const first = partAt(parts, 0);
  const directory = createDirectory({ redis, keys: first.keys, count });
  const channels = createChannels({
    redis,
    run,
    shards: keys,
    waiting,
    onSent: metrics.transferred,
  });
  const wallets = createWalletShards(channels, count);
  const durability = durabilityOverShards(parts.map((part) => part.durability));
  const { doubts } = durability;
  const { parts: engines, ...own } = createShards({
    redis,
    run,
    channels,
    shards: keys,
    shardOf: directory.shardOf,
    grantMicro,
    archivedByShard: parts.map(({ archivedReads }) => archivedReads),
    makersMax: config.matchMakersMax,
    onPull: metrics.pulled,
  });
  const listing = createListing({
    redis,
    run,
    directory,
    shards: keys.map((ofShard, shard) => ({ keys: ofShard, engine: partAt(engines, shard) })),
  });
  const engine: Engine = { ...own, createMarket: listing.createMarket };
  const marketList = marketListOverShards({
    redis,
    keys: first.keys,
    parts: parts.map((part) => part.marketList),
    doubts,
  });
  const { accounts, writers } = openHomeLogs({
    redis,
    run,
    shards: keys,
    onError: (error, source) => log.warn({ err: error.message, source }, 'the logs of some wallets wait'),
  });
  const partitions = parts.map((part, shard): Partition => {
    const alone = partAt(engines, shard);
    return {
      ...part,
      name: `shard ${shard}`,
      labels: { shard: String(shard) },
      engine: {
        ...alone,
        // The home of a wallet gives its nonce to the other shards before it takes the wallet off its list.
        invalidateAll: (address, nonce) =>
          (wallets.homeOf(address) === shard ? engine : alone).invalidateAll(address, nonce),
      },
      markets: openMarkets({ ...options, count }, alone),
      accountLogs: partAt(writers, shard),
    };
  });
  const refresh = createMarketListRefresh(marketList);
  const operations = countedOperations(options, operationsOverShards(options, shards));
  const placement: Placement = {
    find: directory.find,
    partitionOf: directory.shardOf,
    shownOf: directory.shardOf,
    homeOf: wallets.homeOf,
    partitionsOf: wallets.shardsOf,
  };
  return {
    ...readingOverShards({
      redis,
      run,
      directory,
      wallets,
      doubts,
      grantMicro,
      shards: parts,
      names: first.keys.allNames,
    }),
    engine,
    markets: openMarkets({ ...options, count }, engine),
    marketList,
    refreshWallet: (address) => partAt(shards, wallets.homeOf(address)).refreshWallet(address),
    refusal() {
      for (const shard of shards) {
        const refused = shard.refusal();
        if (refused !== null) return refused;
      }
      return null;
    },
    broadcasts: broadcastsOverShards(
      directory,
      parts.map((part) => part.broadcasts),
    ),
    accounts,
    durability,
    health: healthOverShards(
      shards.map((shard) => shard.health),
      durability,
    ),
    actions: first.actions,
    audit: auditOverShards({ redis, shards: keys, parts: parts.map((part) => part.audit) }),
    facts: partAt(shards, 0).facts,
    partitions,
    placement,
    operations: {
      ...operations,
      async serve() {
        await Promise.all([operations.serve(), refresh.start()]);
      },
      stop() {
        refresh.stop();
        operations.stop();
        waiting.close();
      },
    },
    betweenShards: { channels, finishListing: listing.finish },
  };
}
