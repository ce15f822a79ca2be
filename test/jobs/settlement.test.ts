import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Market } from '../../src/exchange/facts';
import { JOBS_PREFIX, SETTLEMENT_QUEUE } from '../../src/jobs/queues';
import { createReconciler } from '../../src/jobs/reconcile';
import { startSchedule } from '../../src/jobs/schedule';
import { type RunningSettlement, startSettlement } from '../../src/jobs/settlement';
import { matchName } from '../../src/jobs/settlement-queue';
import { until } from '../support/waiting';
import { type Settling, scale, startSettling } from './settling';

let world: Settling;
let market: Market;
let connection: Redis;
let queue: Queue;
const running: RunningSettlement[] = [];
const QUIET_MS = 90_000;
const soon = (what: string, holds: () => Promise<boolean>) => until(what, holds, { patienceMs: QUIET_MS });

beforeEach(async () => {
  world = await startSettling();
  market = await world.createMarket();
  connection = new Redis(world.server.url, { maxRetriesPerRequest: null });
  connection.on('error', () => undefined);
  queue = new Queue(SETTLEMENT_QUEUE, { connection, prefix: JOBS_PREFIX });
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  await queue.close();
  connection.disconnect();
  await world.stop();
});

function start(funds: 'paper' | 'chain' = 'paper'): RunningSettlement {
  const { reads, settlements, matches, relayLease } = world;
  const settlement = startSettlement({
    connection,
    relayLease,
    reads,
    settlements,
    matches,
    scale,
    funds,
    onError: () => undefined,
    retries: { attempts: 3, backoffMs: 20 },
  });
  running.push(settlement);
  return settlement;
}

/** Called by hand, without a minimum age. */
const reconcile = async (): Promise<number> => {
  let found = 0;
  const bounds = { nowMs: Date.now() + 1, graceMs: 0, patienceMs: 0, most: 1_000 };
  for (const id of await world.matches.markets()) {
    const refs = await world.matches.unsettled(id, bounds);
    found += refs.length;
    await queue.addBulk(
      refs.map((ref) => ({ name: 'settle', data: { matches: [matchName(ref)] }, opts: { attempts: 1 } })),
    );
  }
  return found;
};

const newestFirst = (a: string, b: string): number => {
  const [[aMs = 0, aIndex = 0], [bMs = 0, bIndex = 0]] = [a.split('-').map(Number), b.split('-').map(Number)];
  return bMs - aMs || bIndex - aIndex;
};
const refOf = ({ record }: Awaited<ReturnType<Settling['match']>>) => ({
  marketId: record.marketId,
  tradeMs: record.fillMs,
  sequence: record.sequence,
});

test('every match is settled once, in parts if it met many makers', async () => {
  start();
  start();
  await world.match(market);
  await world.match(market, 3);
  await world.match(market, 120);
  await world.drained(5, QUIET_MS);
  expect(await world.census([market])).toEqual({
    fills: 124,
    parts: 5,
    missing: [],
    records: 5,
    listed: 5,
    told: 5,
  });
});

test('a fill shows its settlement', async () => {
  const before = refOf(await world.match(market, 2));
  const trades = () => world.reads.trades(market.terms.id, { limit: 10, cursor: null });
  expect((await trades()).fills.map((fill) => fill.settlementStatus)).toEqual(['MATCHED', 'MATCHED']);
  start();
  await world.drained(1, QUIET_MS);
  const { fills } = await trades();
  expect(fills.map((fill) => fill.settlementStatus)).toEqual(['CONFIRMED', 'CONFIRMED']);
  const view = await world.reads.order(fills[0]?.makerHash ?? '');
  expect(view?.fills).toMatchObject([{ settlementStatus: 'CONFIRMED', transactionHash: null }]);
  expect((await world.reads.snapshot(market.terms.id, 1)).fills).toMatchObject([
    { sequence: before.sequence, settlementStatus: 'CONFIRMED' },
  ]);
});

test('the same match in many jobs is settled once', async () => {
  const ref = refOf(await world.match(market, 2));
  const name = matchName(ref);
  await queue.addBulk(
    Array.from({ length: 20 }, () => ({ name: 'settle', data: { matches: [name, name] }, opts: {} })),
  );
  start();
  start();
  await soon('no job is left', async () => (await queue.getJobCountByTypes('wait', 'active')) === 0);
  expect(await world.census([market])).toMatchObject({ missing: [], records: 1, listed: 1, told: 1 });
});

test('the reconciler finds the matches whose jobs a wiped queue lost', async () => {
  for (let i = 0; i < 5; i++) await world.match(market);
  await world.redis.del(world.keys.outbox);
  start();
  expect(await reconcile()).toBe(5);
  await world.drained(5, QUIET_MS);
  expect(await world.census([market])).toMatchObject({ missing: [], records: 5, listed: 5 });
  expect(await reconcile()).toBe(0);
  const last = (
    await world.redis.xrevrange(world.keys.trades(market.terms.id), '+', '-', 'COUNT', 1)
  )[0]?.[0];
  await reconcile();
  expect(await world.redis.hget(world.keys.settledUpTo, market.terms.id)).toBe(last);
});

test('after all keys of BullMQ were lost, the chores continue and the reconciler finds the matches', async () => {
  const { reconciler } = start();
  const schedule = await startSchedule({
    connection,
    chores: [{ ...reconciler, everyMs: 500 }],
    now: world.clock.now,
    onError: () => undefined,
  });
  try {
    await queue.pause();
    for (let i = 0; i < 5; i++) await world.match(market);
    await soon('the matches are jobs', async () => (await queue.getWaitingCount()) > 0);
    expect(await world.redis.hlen(world.keys.settlements)).toBe(0);
    await world.redis.del(...(await world.redis.keys('{jobs}*')));
    await world.drained(5, 2 * QUIET_MS);
    expect(await world.census([market])).toMatchObject({ missing: [], records: 5, listed: 5, told: 5 });
  } finally {
    await schedule.stop();
  }
});

test('the reconciler skips matches in progress', async () => {
  const { record } = await world.match(market);
  const found: unknown[] = [];
  const at = (nowMs: number) =>
    createReconciler({
      matches: world.matches,
      now: () => nowMs,
      enqueue: async (refs) => void found.push(...refs),
    }).run();
  await at(record.fillMs);
  expect(found).toEqual([]);
  await at(record.fillMs + 6_000);
  expect(found).toHaveLength(1);
});

test('a match that cannot be settled becomes a dead letter, and stops no other', async () => {
  const poison = await world.match(market);
  const hash = Buffer.from(poison.fills[0]?.makerHash.slice(2) ?? '', 'hex');
  const stored = await world.redis.hgetBuffer(world.keys.orders, hash);
  await world.redis.hdel(world.keys.orders, hash);
  await world.match(market);
  await queue.add('settle', { anything: 1 });
  await queue.add('settle', { matches: [matchName({ ...refOf(poison), sequence: 999_999 })] });
  start();
  await soon('three dead letters', async () => (await queue.getFailedCount()) === 3);
  const state = async () =>
    (await world.settlements.show(market.terms.id, poison.fills))[0]?.settlementStatus;
  expect(await state()).toBe('FAILED');
  expect(await world.settlements.counts()).toMatchObject({ unsettled: 1, failed: 1 });
  const { records } = await world.settlements.list({ status: 'FAILED' }, { limit: 10, cursor: null });
  expect(records).toMatchObject([{ sequence: poison.record.sequence, settlement: null }]);
  expect(records[0]?.attempts).toBeGreaterThanOrEqual(3);
  expect(
    (await world.settlements.list({ status: 'CONFIRMED' }, { limit: 10, cursor: null })).records,
  ).toHaveLength(1);
  expect(await reconcile()).toBe(0);

  // Corrected by hand, and retried from the board.
  await world.redis.hset(world.keys.orders, hash, stored ?? '');
  for (const job of await queue.getFailed()) if (job.data.matches) await job.retry();
  await soon('it is settled', async () => (await state()) === 'CONFIRMED');
  expect(await world.settlements.counts()).toEqual({ unsettled: 0, oldestMs: null, failed: 1 });
});

test('with funds on a chain, the record of a match waits to be sent, and a match that cannot be built never fails', async () => {
  const poison = await world.match(market);
  await world.redis.hdel(world.keys.orders, Buffer.from(poison.fills[0]?.makerHash.slice(2) ?? '', 'hex'));
  const { fills } = await world.match(market, 2);
  start('chain');
  await soon('a dead letter', async () => (await queue.getFailedCount()) === 1);
  const show = (list: typeof fills) => world.settlements.show(market.terms.id, list);
  expect(await show(fills)).toMatchObject([
    { settlementStatus: 'MATCHED', transactionHash: null },
    { settlementStatus: 'MATCHED', transactionHash: null },
  ]);
  expect(await show(poison.fills)).toMatchObject([{ settlementStatus: 'RETRYING' }]);
  // On a chain each maker has a record of its own.
  expect(await world.settlements.counts()).toMatchObject({ unsettled: 3, failed: 0 });
});

test('the list is walked by a cursor that stays while records are added', async () => {
  const other = await world.createMarket();
  start();
  for (let i = 0; i < 25; i++) await world.match(i % 5 === 0 ? other : market);
  await world.drained(25, QUIET_MS);
  const walk = async (marketId?: string): Promise<string[]> => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await world.settlements.list({ marketId }, { limit: 4, cursor });
      seen.push(...page.records.map(({ listId }) => listId));
      cursor = page.next;
      await world.match(market);
      await world.drained(1, QUIET_MS);
    } while (cursor !== null);
    return seen;
  };
  const all = await walk();
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBe(25);
  expect(all).toEqual([...all].sort(newestFirst));
  expect(await walk(other.terms.id)).toHaveLength(5);
  await expect(world.settlements.list({}, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
    code: 'INVALID_CURSOR',
  });
});
