import { tell } from '../support/telling';
import { type Fault, type Lane, startLane } from './fuzzing/lane';
import { type Bug, patchOf, REPLACED } from './fuzzing/planted-replacing';
import { ENDING, ONE_MATCH, TRADING } from './fuzzing/planted-trading';
import type { Patch } from './fuzzing/scripts';

/**
 * Proves that the fuzz can fail: it catches each of these bugs, planted in a copy of lua/, within few operations.
 */
const OPERATIONS = 2_500;
/** Worlds without and with fees, with few and with many makers; number 3 is deep. */
const SEEDS = [1, 2, 0, 3, 6];
/** Bugs that show only at an event of few worlds: the worlds that have it. */
const RARE_SEEDS: Readonly<Record<string, number[]>> = {
  'a raise that is repeated raises again': [17, 38],
  'a sweep misses what was booked behind it': [18, 25],
  'one maker met: new holder not noted': [16, 12],
  'halves that nobody can be paid are lost': [34, 32],
  'replacing: the walk meets the old one behind others': [13],
};
const ENDING_OPERATIONS = 500;
const ENDING_SEEDS = [1, 2, 0, 4, 5, 6, 8, 9, 10, 12];

let lane: Lane;
beforeAll(async () => {
  lane = await startLane();
});
afterAll(() => lane.stop());

/** The first fault, with the number of operations before it. */
async function caught(
  patch: Patch,
  seeds = SEEDS,
  operations = OPERATIONS,
): Promise<(Fault & { readonly after: number }) | null> {
  for (const [i, seed] of seeds.entries()) {
    const outcome = await lane.play({ seed, operations, patches: [patch] });
    if ('fault' in outcome) return { ...outcome.fault, after: i * operations + outcome.fault.at + 1 };
  }
  return null;
}

const found: string[] = [];
afterAll(() => tell(`planted bugs and what caught them\n${found.join('\n')}`));

// Rows of equal length: jest would pass its callback for a missing member.
const rowsOf = (bugs: readonly Bug[]) => bugs.map((bug) => [bug[0], bug] as const);

async function isCaught(bug: Bug, seeds?: number[], operations?: number): Promise<void> {
  const outcome = await caught(patchOf(bug), seeds, operations);
  expect(outcome).not.toBeNull();
  // A script that does not compile proves nothing.
  expect(outcome?.got).not.toMatch(/compil|nonexistent global/);
  found.push(`  ${bug[0]}: "${outcome?.check}" after ${outcome?.after} operations`);
}

test.each(rowsOf([...TRADING, ...ONE_MATCH, ...REPLACED]))('%s is caught', (_, bug) =>
  isCaught(bug, RARE_SEEDS[bug[0]]),
);
test.each(rowsOf(ENDING))('%s: that is caught', (_, bug) =>
  isCaught(bug, RARE_SEEDS[bug[0]] ?? ENDING_SEEDS, ENDING_OPERATIONS),
);

test('a patch that changes nothing is an error', async () => {
  await expect(caught({ from: 'no such text', to: '' })).rejects.toThrow('nothing to patch');
});
