import type { Rpc } from '../../../chain/rpc';
import { readSpent } from '../contracts/transaction';

/** The cost of the transactions that this process saw become final. */
export interface Spent {
  readonly transactions: number;
  readonly gas: bigint;
  readonly wei: bigint;
  /** The price of the last one. */
  readonly priceWei: bigint;
}

export interface Spending {
  /** Adds a final transaction, by the hashes of its attempts. It is left out when no node answers. */
  add(hashes: readonly string[]): Promise<void>;
  /** Null before the first. */
  spent(): Spent | null;
}

export function createSpending(rpc: Pick<Rpc, 'ask'>): Spending {
  let spent: Spent | null = null;
  return {
    async add(hashes) {
      // The last attempt pays most, so it is the likeliest.
      for (const hash of hashes.toReversed()) {
        const one = await readSpent(rpc, hash).catch(() => null);
        if (!one) continue;
        const { gas, priceWei } = one;
        spent = {
          transactions: (spent?.transactions ?? 0) + 1,
          gas: (spent?.gas ?? 0n) + gas,
          wei: (spent?.wei ?? 0n) + gas * priceWei,
          priceWei,
        };
        return;
      }
    },
    spent: () => spent,
  };
}
