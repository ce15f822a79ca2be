import { randomBytes } from 'node:crypto';
import { createDueMatches } from '../../../src/extensions/archive/store/due-matches';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { TRACES } from '../../../src/store/records/layout';
import { hashBytes } from '../../../src/store/records/order';
import { readPaged } from '../../../src/store/redis/paged-read';
import type { RedisClient } from '../../../src/store/redis/scripts';
import { withWorlds } from '../../store/engine/setup';
import { alice, START_SECOND } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { archivingIn, cancelled, KEEP_MS, START_MS, YES } from './archiving';

/** Attacks on forgetting: they would hold up Redis, take more memory or lose a record. */
const { world } = withWorlds();
const { archiving } = archivingIn(world);
jest.setTimeout(100_000);

const [PRIME, LEFT_OUT, FACTOR] = [1_000_000_007, 1_024, 654_321];
const marketId = (i: number): string => `mk${String(i).padStart(6, '0')}`;

test('traces of many markets whose buckets are due at once are moved in several calls', async () => {
  const [MARKETS, BUCKETS, SPAN, LOAD, SPLIT_MAX] = [45, 63, 64, 395, 2_400];
  const { redis, run, keys, engine } = world();
  const forgetting = createForgetting({ redis, run, keys, archive: createMemoryArchive() });
  await forgetting.lease.take('the test', 600_000);
  await forgetting.open();
  const from = BUCKETS - SPAN / 2;
  const members: string[] = [];
  for (let last = 1; members.length < LOAD; last++)
    if (Math.floor(((last * FACTOR) % PRIME) / LEFT_OUT) % (SPAN / 2) === from)
      members.push(`7${String(last).padStart(9, '0')}`);
  const noted = TRACES.pack({
    buckets: BUCKETS,
    span: SPAN,
    factor: FACTOR,
    expiredSec: 0,
    traces: BUCKETS * 200,
  });
  const orders: { hash: Buffer; packed: Buffer }[] = [];
  for (let i = 0; i < MARKETS; i++) {
    await world().market({ id: marketId(i) });
    await redis.sadd(
      Buffer.from(`{x0}:m:${marketId(i)}:g\0\0${String.fromCharCode(from)}`, 'latin1'),
      ...members,
    );
    await redis.hset(keys.market(marketId(i)), 'g', noted);
    const order = world().buy(alice, YES, '1', '0.40', { market: marketId(i) });
    await engine.place(order);
    await engine.cancel(null, alice, order.orderHash, 'USER');
    const hash = hashBytes(order.orderHash);
    orders.push({ hash, packed: (await redis.hgetBuffer(keys.orders, hash)) as Buffer });
  }
  await world().clock(START_SECOND * 1_000 + KEEP_MS);
  expect((await forgetting.move('the test', { orders })).orders).toBe(MARKETS);
  const counts = await Promise.all(
    orders.map(async (_, i) =>
      TRACES.read((await redis.hgetBuffer(keys.market(marketId(i)), 'g')) as Buffer),
    ),
  );
  const split = counts.filter(({ buckets }) => buckets > BUCKETS).length;
  expect(split).toBeGreaterThan(0);
  expect(split).toBeLessThanOrEqual(SPLIT_MAX / LOAD);
  expect(counts.every(({ traces }) => traces === BUCKETS * 200 + 1)).toBe(true);
});

test('hashes that were chosen without the factor do not crowd a bucket', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  // Bytes 5 to 8 of these hashes are small multiples of 8: times any factor such numbers are multiples of 8, too.
  const lasts = Array.from({ length: 900 }, (_, i) => ((i % 120) * 8).toString(16).padStart(8, '0'));
  for (let at = 0; at < lasts.length; at += 100) {
    const part = lasts.slice(at, at + 100).map((last) => ({
      ...world().buy(alice, YES, '0.1', '0.01'),
      orderHash: `0x${randomBytes(4).toString('hex')}${last}${randomBytes(24).toString('hex')}`,
    }));
    await Promise.all(part.map((order) => engine.place(order)));
    await engine.cancelAll(alice, {});
    await world().clock(world().now() + KEEP_MS);
    expect(await forget(...part)).toBe(part.length);
  }
  const { redis, keys } = world();
  const noted = TRACES.read((await redis.hgetBuffer(keys.market('market00'), 'g')) as Buffer);
  const buckets = await redis.keysBuffer('{x0}:m:market00:g*');
  expect([noted.traces, noted.buckets * 200 >= noted.traces, buckets.length > 1]).toEqual([900, true, true]);
});

test('matches of many fills are read in parts, and no more of them than a pass takes', async () => {
  const [MATCHES, FILLS] = [200, 500];
  const { redis, keys } = world();
  const id = await world().market();
  const now = START_SECOND * 1_000;
  const packed = Buffer.alloc(36 + FILLS * 67);
  packed.writeUInt16BE(FILLS, 34);
  const pipeline = redis.pipeline();
  for (let n = 1; n <= MATCHES; n++) pipeline.xadd(keys.trades(id), `${now}-${n}`, 'f', packed);
  await pipeline.exec();
  await redis.hset(keys.settledUpTo, id, `${now}-${MATCHES}`);
  const mark = Buffer.alloc(34);
  mark.writeUIntBE(now, 2, 6);
  mark.writeUIntBE(MATCHES, 8, 6);
  await redis.hset(keys.candleMarks, id, mark);
  const read: number[] = [];
  const watched = new Proxy(redis, {
    get: (target, name) =>
      name !== 'xrangeBuffer'
        ? Reflect.get(target, name)
        : async (...args: Parameters<RedisClient['xrangeBuffer']>) => {
            const found = (await target.xrangeBuffer(...args)) as unknown as [Buffer, Buffer[]][];
            read.push(found.reduce((sum, [, fields]) => sum + (fields[1]?.length ?? 0), 0));
            return found;
          },
  });
  const due = createDueMatches({ redis: watched, keys, now: () => now + 70_000, keepMs: 61_000 });
  due.note(id, { tradeMs: now, sequence: MATCHES });
  await due.next();
  expect(read.length).toBeGreaterThan(0);
  expect(Math.max(...read)).toBeLessThan(1_000_000);
  expect(read.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(2_000_000);
});

test('a stream is read in parts to its end, each entry once', async () => {
  const { redis } = world();
  const pipeline = redis.pipeline();
  for (let n = 1; n <= 3_000; n++) pipeline.xadd('{x0}:parts', `${n}-0`, 'f', 'x'.repeat(n % 400));
  await pipeline.exec();
  const read = (from: string, count: number) => redis.xrangeBuffer('{x0}:parts', from, '+', 'COUNT', count);
  const ids = (found: readonly [Buffer, Buffer[]][]): number[] =>
    found.map(([id]) => Number(id.toString().split('-')[0]));
  const all = await readPaged(read, '-', 10_000, 10_000_000);
  expect([ids(all.found), all.more]).toEqual([Array.from({ length: 3_000 }, (_, i) => i + 1), false]);
  const some = await readPaged(read, '-', 2_500, 10_000_000);
  expect([some.found.length, some.more]).toEqual([2_500, true]);
});

test('a holder that wakes up behind its lease forgets nothing, also where an older Redis has the lease', async () => {
  await world().market();
  const { redis, run, keys } = world();
  const archive = createMemoryArchive();
  const { engine } = archiving(archive);
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  const LIFE_MS = 200;
  const stalled = {
    ...archive,
    append: async (...args: Parameters<typeof archive.append>) => {
      const isAdded = await archive.append(...args);
      await new Promise((resolve) => setTimeout(resolve, LIFE_MS + 50));
      await redis.del(keys.archiveLease);
      const next = createForgetting({ redis, run, keys, archive });
      await next.lease.take('next', 60_000);
      await next.open();
      // An older copy of Redis takes over, by whose clock the lease of the first has not ended.
      await redis.set(keys.archiveLease, 'late', 'PX', 60_000);
      return isAdded;
    },
  };
  const late = createForgetting({ redis, run, keys, archive: stalled });
  await late.lease.take('late', LIFE_MS);
  await late.open();
  const hash = hashBytes(order.orderHash);
  const packed = (await redis.hgetBuffer(keys.orders, hash)) as Buffer;
  await expect(late.move('late', { orders: [{ hash, packed }] })).rejects.toThrow();
  expect(await redis.hexists(keys.orders, hash)).toBe(1);
});
