import { addressBytes } from '../../../store/records/order';
import { homeOf, type ShardCount } from '../../../store/redis/tags';
import type { Channels } from './channels';

/** Where a wallet has something: in no other shard it has an account, an order or a line of its journal. */
export interface WalletShards {
  homeOf(address: string): number;
  /**
   * Its home, then the shards that the home notes for it, each before the wallet has anything there. So what a command did before this
   * question is in these shards.
   */
  shardsOf(address: string): Promise<readonly number[]>;
}

/** The most wallets of which a process remembers the home; to compute it is 2 % of an order. */
const REMEMBERED_MAX = 10_000;

export function createWalletShards(channels: Pick<Channels, 'shardsOf'>, count: ShardCount): WalletShards {
  const homes = new Map<string, number>();

  function rememberedHome(address: string): number {
    const known = homes.get(address);
    if (known !== undefined) return known;
    if (homes.size >= REMEMBERED_MAX) homes.clear();
    const home = homeOf(addressBytes(address), count);
    homes.set(address, home);
    return home;
  }

  return {
    homeOf: rememberedHome,
    async shardsOf(address) {
      const wallet = addressBytes(address);
      const home = homeOf(wallet, count);
      return [...new Set([home, ...(await channels.shardsOf(home, wallet))])];
    },
  };
}
