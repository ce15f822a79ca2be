import type { TextKey } from './keys';

/** The keys of the directory of an exchange with several shards (src/extensions/shards/lua/claim_market.lua). Only those of the first shard exist. */
export interface DirectoryKeys {
  /** hash: market id -> number of its shard. */
  readonly marketShards: TextKey<'marketShards'>;
  /** hash: `count` of the shards (src/extensions/shards/lua/note_shards.lua); absent with one. */
  readonly shardCount: TextKey<'shardCount'>;
  /** hash: market id -> what creates it in its shard, until it is listed. */
  readonly claims: TextKey<'claims'>;
  /** hash: slug, condition id or id -> market id, of all shards. */
  readonly allNames: TextKey<'allNames'>;
  /** list: the markets of all shards, in the order in which they were listed. */
  readonly allMarkets: TextKey<'allMarkets'>;
  /** hash: slug of an event -> the number of its markets in all shards, and its title. */
  readonly allEvents: TextKey<'allEvents'>;
}

export const directoryKeys = (prefix: string): DirectoryKeys => ({
  marketShards: `${prefix}ms` as TextKey<'marketShards'>,
  shardCount: `${prefix}shards` as TextKey<'shardCount'>,
  claims: `${prefix}mp` as TextKey<'claims'>,
  allNames: `${prefix}dn` as TextKey<'allNames'>,
  allMarkets: `${prefix}dl` as TextKey<'allMarkets'>,
  allEvents: `${prefix}de` as TextKey<'allEvents'>,
});
