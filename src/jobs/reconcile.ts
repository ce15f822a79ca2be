import type { MatchRef } from '../store/records/settlement';
import type { Matches } from '../store/settlement/matches';
import { forEachMarket } from './each';
import { RECONCILE_QUEUE } from './queues';
import type { Chore } from './schedule';

interface ReconcilerOptions {
  readonly matches: Matches;
  readonly enqueue: (refs: readonly MatchRef[], origin: string) => Promise<void>;
  /** By the clock of Redis, which the matches have their times from. */
  readonly now: () => number;
}

const EVERY_MS = 30_000;
/** Younger matches are still on their way. */
const GRACE_MS = 5_000;
/** Longer than any pause between two attempts. */
const PATIENCE_MS = 120_000;
/** Matches found in one run; the rest waits for the next. */
const FOUND_MAX = 100_000;

/**
 * Finds the matches without a final settlement in the markets' own streams, so that losing every job, or the outbox,
 * loses nothing.
 */
export function createReconciler({ matches, enqueue, now }: ReconcilerOptions): Chore {
  return {
    name: RECONCILE_QUEUE,
    everyMs: EVERY_MS,
    async run() {
      const nowMs = now();
      let found = 0;
      await forEachMarket(await matches.markets(), async (id) => {
        if (found >= FOUND_MAX) return;
        const bounds = { nowMs, graceMs: GRACE_MS, patienceMs: PATIENCE_MS, most: FOUND_MAX - found };
        const refs = await matches.unsettled(id, bounds);
        found += refs.length;
        await enqueue(refs, `again-${nowMs}`);
      });
    },
  };
}
