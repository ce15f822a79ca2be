import { Redis } from 'ioredis';
import type { RunningRedis } from '../../../../src/local/redis';
import { createLease, type Lease } from '../../../../src/store/outbox/lease';
import { createSpread } from '../../../../src/store/outbox/spread';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts } from '../../../../src/store/redis/scripts';
import { startTestRedis } from '../../../support/redis';
import { sleep } from '../../../support/waiting';

const LIFE_MS = 60_000;
let server: RunningRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => redis.flushall());

const leasesOf = (count: number): Lease[] => {
  const run = createScripts(redis);
  return Array.from({ length: count }, (_, shard) => {
    const keys = createKeys(shard);
    return createLease({ redis, run, keys }, 'settlement', keys.relayLease);
  });
};

/** A process that wants every lease and looks again a quarter of a second later, as the relays do. */
function candidate(name: string, count: number) {
  const leases = leasesOf(count).map(createSpread(count));
  const held = new Set<number>();
  let isOver = false;
  const loops = leases.map(async (lease, shard) => {
    while (!isOver && !held.has(shard)) {
      if (await lease.take(name, LIFE_MS)) held.add(shard);
      else await sleep(250);
    }
  });
  return {
    held,
    all: Promise.all(loops),
    async stop() {
      isOver = true;
      await Promise.all(loops);
    },
  };
}

test('a single lease is the lease itself', () => {
  const [lease] = leasesOf(1);
  expect(createSpread(1)(lease as Lease)).toBe(lease);
});

test.each([
  [4, 2],
  [8, 2],
  [4, 4],
])('%d leases spread over %d processes that start at once', async (count, processes) => {
  const all = Array.from({ length: processes }, (_, i) => candidate(`process ${i}`, count));
  const heldByAll = (): number => all.reduce((sum, { held }) => sum + held.size, 0);
  while (heldByAll() < count) await sleep(20);
  const sizes = all.map(({ held }) => held.size);
  await Promise.all(all.map(({ stop }) => stop()));
  expect(sizes.reduce((a, b) => a + b)).toBe(count);
  // On a busy machine one may be late by a step.
  expect(Math.max(...sizes)).toBeLessThanOrEqual(count / processes + 1);
});

test.each([4, 64])('one process alone has all of %d leases within seconds', async (count) => {
  const start = performance.now();
  const alone = candidate('alone', count);
  await alone.all;
  expect(alone.held.size).toBe(count);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('a shard that does not answer holds up the leases of the others for a moment only', async () => {
  const [first, ...others] = leasesOf(4) as [Lease, ...Lease[]];
  const silent: Lease = { ...first, take: () => new Promise(() => undefined) };
  const leases = [silent, ...others].map(createSpread(4));
  const start = performance.now();
  void leases[0]?.take('a', LIFE_MS);
  const taken = await Promise.all(leases.slice(1).map((lease) => lease.take('a', LIFE_MS)));
  expect(taken).toEqual([true, true, true]);
  expect(performance.now() - start).toBeGreaterThanOrEqual(450);
});

test('a lease that was lost or given back no longer makes its process wait', async () => {
  const leases = leasesOf(4).map(createSpread(4));
  const [a, b, c, d] = leases as [Lease, Lease, Lease, Lease];
  for (const lease of [a, b, c]) expect(await lease.take('x', LIFE_MS)).toBe(true);
  await a.release('x');
  await redis.set(createKeys(1).relayLease, 'another', 'PX', LIFE_MS);
  expect(await b.renew('x', LIFE_MS, '0-0')).toBe(false);
  await c.release('x');
  const start = performance.now();
  expect(await d.take('x', LIFE_MS)).toBe(true);
  expect(performance.now() - start).toBeLessThan(190);
  expect(await redis.get(createKeys(3).relayLease)).toBe('x');
});
