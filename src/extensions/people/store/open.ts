import type { Store } from '../../../app/store';
import { partAt } from '../../../store/lists/list';
import type { Keys } from '../../../store/redis/keys';
import { type Comments, createComments } from './comments';
import { commentsOverPartitions, profilesOverPartitions } from './over-partitions';
import { createProfiles, type Profiles } from './profiles';

export interface People {
  readonly comments: Comments;
  readonly profiles: Profiles;
}

/** Comments and profiles, over all partitions. */
export function openPeople({
  redis,
  run,
  partitions,
  placement,
}: Pick<Store, 'redis' | 'run' | 'placement'> & {
  readonly partitions: readonly { readonly keys: Keys }[];
}): People {
  const parts = partitions.map(({ keys }) => ({
    comments: createComments({ run, keys }),
    profiles: createProfiles({ redis, run, keys }),
  }));
  const [first, firstPartition] = [partAt(parts, 0), partAt(partitions, 0)];
  if (parts.length === 1) return first;
  return {
    comments: commentsOverPartitions(
      parts.map(({ comments }) => comments),
      { redis, keys: firstPartition.keys, placement },
    ),
    profiles: profilesOverPartitions(
      parts.map(({ profiles }) => profiles),
      placement,
    ),
  };
}
