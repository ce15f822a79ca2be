import type { PartitionChore } from '../../../app/extensions';
import type { Chore } from '../../../jobs/schedule';
import type { Journal } from '../store/journal';
import { openJournal } from '../store/open';

const PLAN = { name: 'keep-journal', everyMs: 1_000 } as const;
/** The most bounded steps in one tick; the next tick continues. */
const STEPS_MAX = 1_000;

/** A request for a wallet's books first records the missing entries; this chore keeps their number small. */
export const keepJournal = (journal: Pick<Journal, 'extend'>): Chore => ({
  ...PLAN,
  async run() {
    for (let step = 0; step < STEPS_MAX && (await journal.extend()); step++);
  },
});

export const KEEP_JOURNAL: PartitionChore = {
  ...PLAN,
  open: (store, partition) => keepJournal(openJournal(store, partition)).run,
};
