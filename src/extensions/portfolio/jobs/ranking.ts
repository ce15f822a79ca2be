import { Refusal } from '../../../exchange/errors';
import type { Chore } from '../../../jobs/schedule';
import type { Ranking } from '../store/leaderboard';

export const RANK_WALLETS = 'rank-wallets';
const EVERY_MS = 10_000;
/** After this time a run begins no further step; the next run continues. */
const RUN_MS = 1_000;

/** Each run is some bounded steps; the ranking that is shown stays while the next one is made. */
export function rankWallets(ranking: Ranking, runMs = RUN_MS): Chore {
  return {
    name: RANK_WALLETS,
    everyMs: EVERY_MS,
    async run() {
      try {
        const endsAt = performance.now() + runMs;
        while (!(await ranking.step()) && performance.now() < endsAt);
      } catch (error) {
        // A journal is behind or lacks entries, which other chores and the doctor report.
        if (!(error instanceof Refusal)) throw error;
      }
    },
  };
}
