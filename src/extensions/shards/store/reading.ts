import type { History } from '../../../store/candles/history';
import type { DurabilityChecks } from '../../../store/health/durability';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import type { LagGauge } from '../../../store/outbox/lag';
import type { Joining } from '../../../store/people/joining';
import type { Reads } from '../../../store/reads/reads';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { Settlements } from '../../../store/settlement/settlements';
import type { Directory } from './directory';
import { joiningOverShards } from './joining';
import { createOrderPlaces } from './order-places';
import { lagOverShards } from './outbox-lag';
import { historyOverShards, readsOverShards } from './reads';
import { settlementsOverShards } from './settlements';
import type { WalletShards } from './wallet-shards';

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
  readonly wallets: WalletShards;
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
  const { redis, directory, wallets, shards } = options;
  const of = <Name extends keyof Reading>(name: Name): Reading[Name][] => shards.map((shard) => shard[name]);
  const places = createOrderPlaces({ redis, shards: shards.map((shard) => shard.keys), parts: of('reads') });
  return {
    reads: readsOverShards({ ...options, places }),
    settlements: settlementsOverShards(of('settlements'), directory, places),
    history: historyOverShards(of('history'), directory),
    joining: joiningOverShards(of('joining'), wallets),
    outboxLag: lagOverShards(of('outboxLag')),
  };
}
