import type { TextKey } from './keys';

/** The keys of the directory of an exchange with several shards. Only those of the first shard exist. */
export interface DirectoryKeys {
  /** hash: market id -> number of its shard. */
  readonly marketShards: TextKey<'marketShards'>;
  /** hash: `count` of the shards (lua/note_shards.lua); absent with one. */
  readonly shardCount: TextKey<'shardCount'>;
}

export const directoryKeys = (prefix: string): DirectoryKeys => ({
  marketShards: `${prefix}ms` as TextKey<'marketShards'>,
  shardCount: `${prefix}shards` as TextKey<'shardCount'>,
});
