import type { Store } from '../../../app/store';
import { Refusal } from '../../../exchange/errors';
import type { Chore } from '../../../jobs/schedule';
import { openRanking } from '../store/open';

export const RANK_WALLETS = 'rank-wallets';
const EVERY_MS = 10_000;

/** Each run is one bounded step; the ranking that is shown stays while the next one is made. */
export function rankWallets(store: Store): Chore {
  const ranking = openRanking(store);
  return {
    name: RANK_WALLETS,
    everyMs: EVERY_MS,
    async run() {
      try {
        await ranking.step();
      } catch (error) {
        // A journal is behind or lacks entries, which other chores and the doctor report.
        if (!(error instanceof Refusal)) throw error;
      }
    },
  };
}
