import type { Extension } from '../../app/extensions';
import { addShards } from './cli/commands';
import { choresBetween, SHARD_QUEUES } from './jobs/chores';
import { shardSamples } from './samples';
import { betweenShardsOf, overShards } from './store/exchange';

/** The exchange over several shards of a Redis Cluster. */
export const SHARDS: Extension = {
  name: 'shards',
  variable: 'SHARDS',
  wrap: overShards,
  commands: addShards,
  samples: shardSamples,
  queues: ({ shards }) => (shards > 1 ? SHARD_QUEUES : []),
  worker(store) {
    const between = betweenShardsOf(store);
    return between && { chores: choresBetween(store, between) };
  },
};
