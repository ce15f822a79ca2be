import type { Joining } from '../people/joining';
import { partAt, type WalletShards } from './wallet-shards';

/** A wallet joins at its home, which grants. */
export function joiningOverShards(parts: readonly Joining[], wallets: WalletShards): Joining {
  const atHome = (address: string): Joining => partAt(parts, wallets.home(address));
  return {
    join: (address) => atHome(address).join(address),
    isKnown: (address) => atHome(address).isKnown(address),
  };
}
