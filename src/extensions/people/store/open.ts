import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { BetweenShards } from '../../../store/shards/exchange';
import { createWalletShards } from '../../../store/verbs/wallet-shards';
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
  readonly shards: readonly { readonly keys: Keys }[];
  /** Null with one shard. */
  readonly betweenShards: Pick<BetweenShards, 'directory' | 'channels'> | null;
}

/** Comments and profiles, over all shards. */
export function openPeople({ redis, run, shards, betweenShards }: PeopleStore): People {
  const parts = shards.map(({ keys }) => ({
    comments: createComments({ run, keys }),
    profiles: createProfiles({ redis, run, keys }),
  }));
  const [first, firstShard] = [parts[0], shards[0]];
  if (!first || !firstShard) throw new RangeError('an exchange has a shard');
  if (betweenShards === null) return first;
  const { directory, channels } = betweenShards;
  return {
    comments: commentsOverShards(
      parts.map(({ comments }) => comments),
      { redis, keys: firstShard.keys, directory },
    ),
    profiles: profilesOverShards(
      parts.map(({ profiles }) => profiles),
      createWalletShards(channels, directory.count),
    ),
  };
}
