import type { Config } from '../config/load';
import type { Metrics } from '../metrics/metrics';
import type { ShardKeys } from '../store/redis/keys';
import { auditOverShards } from '../store/shards/audit';
import { broadcastsOverShards } from '../store/shards/broadcasts';
import { createDirectory } from '../store/shards/directory';
import { journalRebuildOverShards } from '../store/shards/journal-rebuild';
import { marketListOverShards } from '../store/shards/market-list';
import { createListing } from '../store/shards/markets';
import { presenceOverShards } from '../store/shards/presence';
import { readingOverShards } from '../store/shards/reading';
import { standingsOverShards } from '../store/shards/standings';
import { createWalletShards } from '../store/shards/wallet-shards';
import { type ChannelOptions, createChannels } from '../store/verbs/channels';
import type { Engine } from '../store/verbs/engine';
import { createShards } from '../store/verbs/shards';
import type { ShardParts, SharedParts } from './shards';

/** The engine, the lists and the reads of an exchange of several shards, made of the parts of each. */
export function openOverShards(
  config: Config,
  shared: Omit<SharedParts, 'archive'> & {
    readonly waiting: ChannelOptions['waiting'] | null;
    readonly metrics: Pick<Metrics, 'pulled' | 'transferred'>;
  },
  parts: readonly ShardParts[],
) {
  const { redis, run, waiting, grantMicro, metrics } = shared;
  const shards = parts.map(({ keys }) => keys);
  const keys = shards[0] as ShardKeys;
  const directory = createDirectory({ redis, keys, count: config.shards });
  const channels = createChannels({
    redis,
    run,
    shards,
    onSent: metrics.transferred,
    ...(waiting && { waiting }),
  });
  const { shardOf } = directory;
  const standings = standingsOverShards(parts.map((part) => part.standings));
  const { doubts } = standings;
  const own = createShards({
    redis,
    run,
    channels,
    shards,
    shardOf,
    grantMicro,
    pasts: parts.map(({ past }) => past),
    makersMax: config.matchMakersMax,
    onGather: metrics.pulled,
  });
  const engineOf = (shard: number): Engine => own.parts[shard] as Engine;
  const listing = createListing({
    redis,
    run,
    directory,
    shards: parts.map((part, shard) => ({ keys: part.keys, engine: engineOf(shard) })),
  });
  const reading = readingOverShards({
    redis,
    run,
    directory,
    channels,
    doubts,
    grantMicro,
    shards: parts,
    names: keys.allNames,
  });
  return {
    directory,
    listing,
    channels,
    standings,
    ...reading,
    /** Of each shard. */
    engines: parts.map((_, shard) => engineOf(shard)),
    engine: { ...own, createMarket: listing.createMarket },
    marketList: marketListOverShards({ redis, keys, parts: parts.map((part) => part.marketList), doubts }),
    presence: presenceOverShards(parts.map((part) => part.presence)),
    broadcasts: broadcastsOverShards(
      directory,
      parts.map((part) => part.broadcasts),
    ),
    journalRebuild: journalRebuildOverShards(
      parts.map((part) => part.journalRebuild),
      createWalletShards({ channels, count: config.shards }),
    ),
    audit: auditOverShards({ redis, shards, parts: parts.map((part) => part.audit) }),
  };
}
