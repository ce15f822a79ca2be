import type { ShardKeys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { Directory } from '../../../store/shards/directory';
import { createWalletShards } from '../../../store/shards/wallet-shards';
import type { Channels } from '../../../store/verbs/channels';
import { type Comments, createComments } from './comments';
import { commentsOverShards, profilesOverShards } from './over-shards';
import { createProfiles, type Profiles } from './profiles';

export interface People {
  readonly comments: Comments;
  readonly profiles: Profiles;
}

export interface PeopleStore {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly { readonly keys: ShardKeys }[];
  /** Null with one shard, as are the channels. */
  readonly directory: Directory | null;
  readonly channels: Pick<Channels, 'shardsOf'> | null;
}

/** Comments and profiles, over all shards. */
export function openPeople({ redis, run, shards, directory, channels }: PeopleStore): People {
  const parts = shards.map(({ keys }) => ({
    comments: createComments({ run, keys }),
    profiles: createProfiles({ redis, run, keys }),
  }));
  const [first, firstShard] = [parts[0], shards[0]];
  if (!first || !firstShard) throw new RangeError('an exchange has a shard');
  if (directory === null || channels === null) return first;
  return {
    comments: commentsOverShards(
      parts.map(({ comments }) => comments),
      { redis, keys: firstShard.keys, directory },
    ),
    profiles: profilesOverShards(
      parts.map(({ profiles }) => profiles),
      createWalletShards({ channels, count: directory.count }),
    ),
  };
}
