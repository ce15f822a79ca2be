import { runProbe } from '../../src/store/health/health';
import { createClock } from '../../src/store/redis/clock';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { startTestRedis } from '../support/redis';
import { READY_MS } from '../support/waiting';

const unasked = () => createClock(() => Promise.reject(new Error('nobody asks')));
/** A moment of `performance.now()` in the past. */
const ago = (ms: number): number => performance.now() - ms;
const T = 1_800_000_000_000;

test('the time of Redis is known to a few milliseconds after a measurement, and unknown before', async () => {
  const server = await startTestRedis();
  const redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  const run = createScripts(redis);
  const clock = createClock(() => runProbe(run, createKeys()));
  try {
    expect(() => clock.now()).toThrow('not known');
    const askedAt = performance.now();
    await clock.measure();
    // Redis and this test share a machine, and no round trip was longer than all of them.
    const errorMs = performance.now() - askedAt + 1;
    const before = Date.now();
    const now = clock.now();
    expect(now).toBeGreaterThan(before - errorMs);
    expect(now).toBeLessThan(Date.now() + errorMs);
  } finally {
    disconnect(redis);
    await server.stop();
  }
});

test('a longer round trip changes nothing, and a shorter one is more exact', () => {
  const clock = unasked();
  const startedAt = performance.now();
  /** Between the bounds, however long the lines before have taken. */
  const expectNow = (from: number): void => {
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(T + from - 1);
    expect(now).toBeLessThanOrEqual(T + from + 1 + performance.now() - startedAt);
  };
  clock.observe(T, ago(100));
  expectNow(50);
  clock.observe(T + 60, ago(300));
  expectNow(50);
  clock.observe(T + 200, ago(2));
  expectNow(201);
});

test('a change of the clock of Redis is followed at once, in either direction', () => {
  const clock = unasked();
  clock.observe(T, ago(1));
  for (const stepMs of [86_400_000, -86_400_000, 120_000, -1_000]) {
    const startedAt = performance.now();
    clock.observe(T + stepMs, ago(20));
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(T + stepMs + 9);
    expect(now).toBeLessThanOrEqual(T + stepMs + 11 + performance.now() - startedAt);
  }
});

test('a change of the machine’s clock does not affect the known clock of Redis', () => {
  const clock = unasked();
  const startedAt = performance.now();
  clock.observe(T, ago(1));
  const real = Date.now;
  try {
    for (const offMs of [120_000, -120_000]) {
      Date.now = () => real() + offMs;
      const now = clock.now();
      expect(now).toBeGreaterThanOrEqual(T);
      expect(now).toBeLessThanOrEqual(T + 2 + performance.now() - startedAt);
    }
  } finally {
    Date.now = real;
  }
});
