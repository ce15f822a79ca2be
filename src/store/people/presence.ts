import { addressBytes, hashHex } from '../records/order';
import type { ShardKeys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/** Wallets one call takes (WALLETS_MAX in the scripts). */
const WALLETS_MAX = 1_000;

export interface Presence {
  /** They are here now, and count as gone `graceMs` later unless they are marked again, by any replica. */
  mark(addresses: readonly string[], graceMs: number): Promise<void>;
  /**
   * Those that are gone, in lower case, the longest gone first; they stay on the list until `cancelAbsent` is done
   * with them. No wallet's deadline is later than `graceMs` from now. Only under the lease of broadcasting.
   */
  absent(token: string, graceMs: number): Promise<string[]>;
}

/** Which wallets are there, of those that want their orders cancelled when they are gone. */
export function createPresence({ run, keys }: { run: RunScript; keys: ShardKeys }): Presence {
  return {
    async mark(addresses: readonly string[], graceMs: number): Promise<void> {
      for (let from = 0; from < addresses.length; from += WALLETS_MAX) {
        const part = addresses.slice(from, from + WALLETS_MAX).map(addressBytes);
        await run('mark_present', [keys.absences], [graceMs, Buffer.concat(part)]);
      }
    },
    async absent(token: string, graceMs: number): Promise<string[]> {
      const found = await run('take_absent', [keys.lease, keys.absences], [token, WALLETS_MAX, graceMs]);
      return found.map(hashHex);
    },
  };
}
