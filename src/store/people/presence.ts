import { addressBytes, hashHex } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/** The most wallets in one call (WALLETS_MAX in the scripts). */
const WALLETS_MAX = 1_000;

export interface Presence {
  /** Marks wallets as present. They count as gone `graceMs` later unless any replica marks them again. */
  mark(addresses: readonly string[], graceMs: number): Promise<void>;
  /**
   * Returns the wallets that are gone, in lower case, longest gone first. They stay on the list until `cancelAbsent` has
   * finished with them. No wallet's deadline is later than `graceMs` from now. Only under the lease of broadcasting.
   */
  absent(token: string, graceMs: number): Promise<string[]>;
}

/** The presence of the wallets that want their orders cancelled when they are gone. */
export function createPresence({ run, keys }: { run: RunScript; keys: Keys }): Presence {
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
