import type { ByteKey, TextKey } from './keys';

/** The keys of collateral that moves between shards (src/extensions/shards/lua/lib/channel.lua). With one shard none of them exists. */
export interface ChannelKeys {
  /** stream: the collateral that this shard sent to another. */
  channel(to: number): TextKey<'channel'>;
  /** stream: a channel that takes the place of a broken one, while it is written (src/extensions/shards/lua/mend_channel.lua). */
  channelDraft(to: number): TextKey<'channelDraft'>;
  /** hash: number of a shard -> id of the last entry that this shard took from its channel. */
  readonly taken: TextKey<'taken'>;
  /** hash, at a wallet's home: wallet (20 bytes) -> the shards in which it may have an account. */
  readonly purses: TextKey<'purses'>;
  /** string, at a wallet's home: the token of the gatherer of its collateral. */
  purseHold(address: Buffer): ByteKey<'purseHold'>;
}

export const channelKeys = (prefix: string): ChannelKeys => ({
  channel: (to) => `${prefix}to:${to}` as TextKey<'channel'>,
  channelDraft: (to) => `${prefix}to:${to}:new` as TextKey<'channelDraft'>,
  taken: `${prefix}from` as TextKey<'taken'>,
  purses: `${prefix}pu` as TextKey<'purses'>,
  purseHold: (address) =>
    Buffer.concat([Buffer.from(`${prefix}ph:`), address]) as Buffer as ByteKey<'purseHold'>,
});
