import { addressBytes } from '../records/order';
import { homeOf, type ShardCount } from '../redis/tags';
import type { Channels } from '../verbs/channels';

/** Where a wallet has something: in no other shard it has an account, an order or a line of its journal. */
export interface WalletShards {
  home(address: string): number;
  /**
   * Its home, and the shards that the home notes for it, each before the wallet has anything there. So what a command did before
   * this question is in these shards.
   */
  of(address: string): Promise<readonly number[]>;
}

interface WalletShardsOptions {
  readonly channels: Pick<Channels, 'shardsOf'>;
  readonly count: ShardCount;
}

export function createWalletShards({ channels, count }: WalletShardsOptions): WalletShards {
  const home = (address: string): number => homeOf(addressBytes(address), count);

  async function of(address: string): Promise<readonly number[]> {
    const first = home(address);
    return [...new Set([first, ...(await channels.shardsOf(first, addressBytes(address)))])];
  }

  return { home, of };
}

/** The part of a shard; each list of parts has one for each shard. */
export function partAt<T>(parts: readonly T[], shard: number): T {
  const part = parts[shard];
  if (part === undefined) throw new RangeError(`no shard ${shard}`);
  return part;
}
