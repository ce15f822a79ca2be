import type { MatchRef } from '../store/records/settlement';
import type { Matches } from '../store/settlement/matches';
import { RECONCILE_QUEUE } from './queues';
import { runEachMarket } from './run-each';
import type { Chore } from './schedule';

interface ReconcilerOptions {
  readonly matches: Matches;
  readonly enqueue: (refs: readonly MatchRef[], origin: string) => Promise<void>;
  /** The time of Redis, which also dates the matches. */
  readonly now: () => number;
}

const EVERY_MS = 30_000;
/** Younger matches are still being processed. */
const GRACE_MS = 5_000;
/** Longer than every pause between two attempts. */
const PATIENCE_MS = 120_000;
/** The most matches found in one run; the next run continues. */
const FOUND_MAX = 100_000;

/**
 * Finds the matches without a final settlement in the markets' own streams, so that a loss of all jobs or of the outbox
 * loses no settlement.
 */
export function createReconciler({ matches, enqueue, now }: ReconcilerOptions): Chore {
  return {
    name: RECONCILE_QUEUE,
    everyMs: EVERY_MS,
    async run() {
      const nowMs = now();
      let found = 0;
      await runEachMarket(await matches.markets(), async (id) => {
        if (found >= FOUND_MAX) return;
        const bounds = { nowMs, graceMs: GRACE_MS, patienceMs: PATIENCE_MS, most: FOUND_MAX - found };
        const refs = await matches.unsettled(id, bounds);
        found += refs.length;
        await enqueue(refs, `again-${nowMs}`);
      });
    },
  };
}
