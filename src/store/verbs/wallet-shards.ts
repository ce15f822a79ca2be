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

export function createWalletShards(channels: Pick<Channels, 'shardsOf'>, count: ShardCount): WalletShards {
  return {
    homeOf: (address) => homeOf(addressBytes(address), count),
    async shardsOf(address) {
      const wallet = addressBytes(address);
      const home = homeOf(wallet, count);
      return [...new Set([home, ...(await channels.shardsOf(home, wallet))])];
    },
  };
}
