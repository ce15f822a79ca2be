import { createDueLines } from '../../../src/extensions/archive/store/due-lines';
import { Fenced } from '../../../src/extensions/archive/store/forgetting';
import type { LeavingLines } from '../../../src/extensions/archive/store/leaving';
import { packTrade } from '../../../src/extensions/portfolio/store/records';
import { FORGOTTEN } from '../../../src/store/records/layout';
import { addressBytes } from '../../../src/store/records/order';
import { readRun } from '../../../src/store/redis/run';
import { withWorlds } from '../../store/engine/setup';
import { alice, bob, START_SECOND } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { createLeavingWorld } from './leaving-world';

/** The rules by which lines of journals leave Redis. */
const { world } = withWorlds();
const TOKEN = 'the test';
const LEASE_MS = 600_000;
const KEEP_MS = 60_000;
const START_MS = START_SECOND * 1_000;
const [a, b] = [addressBytes(alice), addressBytes(bob)];

const line = (sequence: number, tradeMs = START_MS): Buffer =>
  packTrade({ marketId: 'market00', tradeMs, sequence });

async function journals() {
  const { redis, keys, now } = world();
  const archive = createMemoryArchive();
  const { forgetting } = createLeavingWorld(world(), archive, now, KEEP_MS);
  await forgetting.lease.take(TOKEN, LEASE_MS);
  await forgetting.open();
  const due = createDueLines({ redis, keys, now, keepMs: KEEP_MS });
  return {
    archive,
    forgetting,
    write: (wallet: Buffer, ...lines: Buffer[]) => redis.rpush(keys.journal(wallet), ...lines),
    next: async (...wallets: Buffer[]) => {
      for (const wallet of wallets) due.note(wallet);
      return (await due.next()).journals;
    },
    forget: async (...leaving: LeavingLines[]) => (await forgetting.move(TOKEN, { journals: leaving })).lines,
    state: async (wallet: Buffer) => {
      const packed = await redis.hgetBuffer(keys.forgotten, wallet);
      return [packed ? FORGOTTEN.get.lines(packed) : 0, await redis.llen(keys.journal(wallet))];
    },
    old: () => world().clock(START_MS + KEEP_MS),
  };
}

test('the oldest lines of several wallets leave together, each a minute after its time, and are counted', async () => {
  const { write, next, forget, state, old, archive } = await journals();
  await write(a, line(1), line(2), line(3, START_MS + 1));
  await write(b, line(1));
  expect(await next(a, b)).toEqual([]);
  await old();
  const leaving = await next(a, b);
  expect(leaving.map(({ from, lines }) => [from, lines.length])).toEqual([
    [0, 2],
    [0, 1],
  ]);
  expect(await forget(...leaving)).toBe(3);
  expect([await state(a), await state(b)]).toEqual([
    [2, 1],
    [1, 0],
  ]);
  await world().clock(START_MS + KEEP_MS + 1);
  expect(await forget(...(await next(a, b)))).toBe(1);
  expect(await state(a)).toEqual([3, 0]);
  const archived = await archive.lines(a, 0, 9);
  expect(archived.map(({ entry, line: packed }) => [entry, packed])).toEqual([
    ...[0, 1].map((entry) => [entry, line(entry + 1)]),
    [2, line(3, START_MS + 1)],
  ]);
});

test('lines stay that are young, not the first of the journal, not as they were archived, or cut off already', async () => {
  const { write, forget, state, old } = await journals();
  await write(a, line(1), line(2));
  const first: LeavingLines = { wallet: a, from: 0, lines: [line(1)] };
  await world().clock(START_MS + KEEP_MS - 1);
  expect(await forget(first)).toBe(0);
  await old();
  expect(await forget({ ...first, lines: [line(2)] })).toBe(0);
  expect(await forget({ ...first, lines: [line(1), line(2), line(3)] })).toBe(0);
  expect(await forget({ ...first, from: 1 })).toBe(0);
  expect(await state(a)).toEqual([0, 2]);
  expect([await forget(first), await forget(first)]).toEqual([1, 0]);
  expect(
    await forget({ wallet: a, from: 1, lines: [line(2)] }, { wallet: b, from: 0, lines: [line(1)] }),
  ).toBe(1);
  expect(await state(a)).toEqual([2, 0]);
});

test('a journal of more lines than one call takes leaves in several, in their order', async () => {
  const { write, next, forget, state, old } = await journals();
  const lines = Array.from({ length: 2_500 }, (_, i) => line(i + 1));
  await write(a, ...lines);
  await old();
  const [leaving] = await next(a);
  expect(leaving?.lines).toHaveLength(2_500);
  expect(await forget(leaving as LeavingLines)).toBe(2_500);
  expect(await state(a)).toEqual([2_500, 0]);
});

test('lines leave neither by a process without the lease nor while the exchange is HALTED', async () => {
  const { write, next, forget, forgetting, old, state } = await journals();
  await world().market();
  await write(a, line(1));
  await old();
  const leaving = await next(a);
  await world().engine.setMode('HALTED');
  await expect(forget(...leaving)).rejects.toThrow(Fenced);
  await world().engine.setMode('NORMAL');
  await forgetting.open();
  await forgetting.lease.release(TOKEN);
  await expect(forget(...leaving)).rejects.toThrow(Fenced);
  expect(await state(a)).toEqual([0, 1]);
});

test('a correction of a journal begins again when as many lines have left meanwhile as were added', async () => {
  const { write, next, forget, old } = await journals();
  const { run, redis, keys } = world();
  await write(a, line(1), line(2));
  await old();
  const from = await readRun(run, keys);
  const rebuild = (left: number) =>
    run(
      'rebuild_journal',
      [keys.sums, keys.journal(a), keys.positions(a), keys.journalDraft(a, 'draft'), keys.forgotten],
      [from, '', 2, 1, a, left, keys.prefix],
    );
  await redis.rpush(keys.journalDraft(a, 'draft'), line(1), line(2));
  expect(await forget(...(await next(a)))).toBe(2);
  await write(a, line(3), line(4));
  expect(await rebuild(0)).toBe(0);
  expect(await redis.lrangeBuffer(keys.journal(a), 0, -1)).toEqual([line(3), line(4)]);
  expect(await rebuild(2)).toBe(1);
});
