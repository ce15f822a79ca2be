import type { History } from '../candles/history';
import type { DurabilityChecks } from '../health/durability';
import type { ArchivedReads } from '../lists/archived-reads';
import type { LagGauge } from '../outbox/lag';
import type { Joining } from '../people/joining';
import type { Reads } from '../reads/reads';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import type { Settlements } from '../settlement/settlements';
import type { Channels } from '../verbs/channels';
import { createWalletShards } from '../verbs/wallet-shards';
import type { Directory } from './directory';
import { joiningOverShards } from './joining';
import { createOrderPlaces } from './order-places';
import { lagOverShards } from './overview';
import { historyOverShards, readsOverShards } from './reads';
import { settlementsOverShards } from './settlements';

/** The parts that read. */
export interface Reading {
  readonly reads: Reads;
  readonly settlements: Settlements;
  readonly history: History;
  readonly joining: Joining;
  readonly outboxLag: LagGauge;
}

interface ReadingOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly directory: Directory;
  readonly channels: Pick<Channels, 'shardsOf'>;
  /** Parts of each shard, in their order. */
  readonly shards: readonly (Reading & { readonly keys: Keys; readonly archivedReads: ArchivedReads })[];
  /** The hash of the names of all markets, in the first shard. */
  readonly names: string;
  /** Doubts about all shards together. */
  readonly doubts: DurabilityChecks['doubts'];
  /** The balance of an unknown wallet. */
  readonly grantMicro: number;
}

/** Everything that reads, over all shards; made of the same of each shard. */
export function readingOverShards(options: ReadingOptions): Reading {
  const { redis, directory, channels, shards } = options;
  const wallets = createWalletShards(channels, directory.count);
  const of = <Name extends keyof Reading>(name: Name): Reading[Name][] => shards.map((shard) => shard[name]);
  const places = createOrderPlaces({ redis, shards: shards.map((shard) => shard.keys), parts: of('reads') });
  return {
    reads: readsOverShards({ ...options, wallets, places }),
    settlements: settlementsOverShards(of('settlements'), directory, places),
    history: historyOverShards(of('history'), directory),
    joining: joiningOverShards(of('joining'), wallets),
    outboxLag: lagOverShards(of('outboxLag')),
  };
}
