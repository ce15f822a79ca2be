import { partAt } from '../../../store/lists/list';
import type { Joining } from '../../../store/people/joining';
import type { WalletShards } from './wallet-shards';

/** A wallet joins at its home, which grants. */
export function joiningOverShards(parts: readonly Joining[], wallets: WalletShards): Joining {
  const atHome = (address: string): Joining => partAt(parts, wallets.homeOf(address));
  return {
    join: (address) => atHome(address).join(address),
    isKnown: (address) => atHome(address).isKnown(address),
  };
}
