import type { Config } from '../../config/load';
import type { Keys } from '../redis/keys';
import type { ShardParts, SharedParts } from '../shard';
import { type ChannelOptions, type Channels, createChannels } from '../verbs/channels';
import type { Engine } from '../verbs/engine';
import { createShards } from '../verbs/shards';
import { auditOverShards } from './audit';
import { broadcastsOverShards } from './broadcasts';
import { createDirectory, type Directory } from './directory';
import { durabilityOverShards } from './durability';
import { marketListOverShards } from './market-list';
import { createListing } from './markets';
import { presenceOverShards } from './presence';
import { readingOverShards } from './reading';

/** What the shards of an exchange have together. */
export interface BetweenShards {
  /** Which shard has a market. */
  readonly directory: Directory;
  readonly channels: Channels;
  /** Creates and lists the markets that were only claimed. */
  readonly finishListing: () => Promise<void>;
}

/** The engine, the lists and the reads of an exchange of several shards, made of the parts of each. */
export function openOverShards(
  config: Config,
  shared: Omit<SharedParts, 'archive'> & {
    readonly waiting: ChannelOptions['waiting'] | null;
    /** Called for each transfer that leaves a shard. */
    readonly onSent: (from: number) => void;
    /** Called for each command whose shard had too little collateral, with how it ended. */
    readonly onPull: (end: string) => void;
  },
  parts: readonly ShardParts[],
) {
  const { redis, run, waiting, grantMicro, onSent, onPull } = shared;
  const shards = parts.map(({ keys }) => keys);
  const keys = shards[0] as Keys;
  const directory = createDirectory({ redis, keys, count: config.shards });
  const channels = createChannels({
    redis,
    run,
    shards,
    onSent,
    ...(waiting && { waiting }),
  });
  const { shardOf } = directory;
  const standings = durabilityOverShards(parts.map((part) => part.standings));
  const { doubts } = standings;
  const own = createShards({
    redis,
    run,
    channels,
    shards,
    shardOf,
    grantMicro,
    archivedByShard: parts.map(({ archivedReads }) => archivedReads),
    makersMax: config.matchMakersMax,
    onPull,
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
  const betweenShards: BetweenShards = { directory, channels, finishListing: listing.finish };
  return {
    betweenShards,
    standings,
    ...reading,
    /** Engine of each shard. */
    engines: parts.map((_, shard) => engineOf(shard)),
    engine: { ...own, createMarket: listing.createMarket },
    marketList: marketListOverShards({ redis, keys, parts: parts.map((part) => part.marketList), doubts }),
    presence: presenceOverShards(parts.map((part) => part.presence)),
    broadcasts: broadcastsOverShards(
      directory,
      parts.map((part) => part.broadcasts),
    ),
    audit: auditOverShards({ redis, shards, parts: parts.map((part) => part.audit) }),
  };
}
