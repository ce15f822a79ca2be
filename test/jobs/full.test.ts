import { Redis } from 'ioredis';
import { startSchedule } from '../../src/jobs/schedule';
import { connect, disconnect } from '../../src/store/redis/connection';
import type { RedisClient } from '../../src/store/redis/scripts';
import { startTestRedis } from '../support/redis';
import { until } from '../support/waiting';

let redis: Awaited<ReturnType<typeof startTestRedis>>;
let own: Redis;
const connections: RedisClient[] = [];
const stops: (() => Promise<void>)[] = [];
beforeAll(async () => {
  redis = await startTestRedis();
  own = new Redis(redis.url);
});
afterAll(async () => {
  await own?.config('SET', 'maxmemory', '0');
  await Promise.all(stops.map((stop) => stop()));
  connections.forEach(disconnect);
  own?.disconnect();
  await redis?.stop();
});

/** A worker with one chore. */
async function startWorker() {
  const seen = { runs: 0, errors: 0 };
  const connection = connect({ urls: [redis.url], blocking: true });
  connections.push(connection);
  const schedule = await startSchedule({
    connection,
    chores: [{ name: 'count', everyMs: 500, run: async () => void seen.runs++ }],
    now: Date.now,
    onError: () => seen.errors++,
  });
  stops.push(schedule.stop);
  return seen;
}

test('in a full Redis, whose queues do not work, chores run all the same, also those of a worker that starts', async () => {
  const seen = await startWorker();
  await until('the queue runs the chore', () => seen.runs > 0);
  await own.config('SET', 'maxmemory', '1');
  await until('the queue fails', () => seen.errors > 0);
  const before = seen.runs;
  await until('the chore runs on', () => seen.runs > before + 4);
  // Without a rest BullMQ asks hundreds of times a second.
  expect(seen.errors).toBeLessThan(100);
  const later = await startWorker();
  await until('the chore runs in the new worker, too', () => later.runs > 1);

  await own.config('SET', 'maxmemory', '0');
  await until('the queues work again', async () => {
    const errors = seen.errors + later.errors;
    const runs = seen.runs + later.runs;
    await until('the chore has run a while', () => seen.runs + later.runs > runs + 8);
    return errors === seen.errors + later.errors;
  });
}, 60_000);
