import { choresOverPartitions } from '../../src/jobs/over-partitions';
import type { Chore } from '../../src/jobs/schedule';
import { sleep, until } from '../support/waiting';

const choreOf = (run: () => Promise<void>): Chore => ({ name: 'count', everyMs: 500, run });
const only = (chores: readonly Chore[]): Chore => chores[0] as Chore;

test('one shard has its own chores', () => {
  const chores = [choreOf(async () => undefined)];
  expect(choresOverPartitions([chores])).toBe(chores);
});

test('a chore runs in every shard, and one that fails keeps no other from it', async () => {
  const ran: number[] = [];
  const inEach = [0, 1, 2].map((shard) => [
    choreOf(async () => {
      ran.push(shard);
      if (shard === 1) throw new Error('no room');
    }),
  ]);
  const chore = only(choresOverPartitions(inEach));
  expect({ ...chore, run: null }).toEqual({ name: 'count', everyMs: 500, run: null });
  await expect(chore.run()).rejects.toThrow('partition 1: no room; the others are done');
  expect(ran.sort()).toEqual([0, 1, 2]);
});

test('a chore waits once for a shard that does not answer, skips it while it is silent, and fails with it when it fails late', async () => {
  let [others, silent] = [0, 0];
  let fail = (_: Error): void => undefined;
  const answer = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const chore = only(
    choresOverPartitions([
      [choreOf(async () => void others++)],
      [
        choreOf(() => {
          silent++;
          return silent === 1 ? answer : Promise.resolve();
        }),
      ],
    ]),
  );
  const start = performance.now();
  await chore.run();
  expect(performance.now() - start).toBeGreaterThanOrEqual(450);
  await chore.run();
  await chore.run();
  expect([others, silent]).toEqual([3, 1]);
  fail(new Error('Command timed out'));
  await sleep(0);
  await expect(chore.run()).rejects.toThrow('partition 1: Command timed out');
  await chore.run();
  expect([others, silent]).toEqual([5, 3]);
});

test('a shard under way for longer than the limit fails the chore', async () => {
  const chore = only(
    choresOverPartitions(
      [[choreOf(async () => undefined)], [choreOf(() => new Promise<void>(() => undefined))]],
      { lateMs: 1_000 },
    ),
  );
  await chore.run();
  const told: string[] = [];
  await until('it is told', () =>
    chore.run().then(
      () => false,
      (error: Error) => told.push(error.message) > 0,
    ),
  );
  expect(told).toEqual([expect.stringMatching(/^partition 1: under way for [1-9] s; the others are done$/)]);
});
