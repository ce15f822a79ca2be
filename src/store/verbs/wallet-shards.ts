import { addressBytes } from '../records/order';
import { homeOf, type ShardCount } from '../redis/tags';
import type { Channels } from './channels';

/** The shards of a wallet. */
export interface WalletShards {
  homeOf(address: string): number;
  /**
   * Its home, then every other shard in which it may have an account. A shard is noted before the wallet has an account there, so
   * each order that was booked before this look is in one of them.
   */
  shardsOf(address: string): Promise<readonly number[]>;
}

/** The most wallets of which a process remembers the home; to compute it is 2 % of an order (`npm run bench -- shards-web`). */
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
