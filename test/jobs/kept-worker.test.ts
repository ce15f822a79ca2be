import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type SupervisedWorker, superviseWorker } from '../../src/jobs/supervised-worker';
import type { RunningRedis } from '../../src/local/redis';
import { startTestRedis } from '../support/redis';
import { sleep, until } from '../support/waiting';

/** Workers of BullMQ that do not work any more, as after some errors of a cluster whose nodes come and go. */
const LOOK_MS = 20;
let server: RunningRedis;
let connection: Redis;
let queue: Queue;
let kept: SupervisedWorker | null = null;
let opened: Worker[] = [];
let stuck = 0;
const done: unknown[] = [];

beforeAll(async () => {
  server = await startTestRedis();
  connection = new Redis(server.url, { maxRetriesPerRequest: null });
});
beforeEach(async () => {
  await connection.flushall();
  queue = new Queue('kept', { connection });
  [opened, stuck, done.length] = [[], 0, 0];
});
afterEach(async () => {
  await kept?.close();
  await queue.close();
});
afterAll(async () => {
  connection.disconnect();
  await server.stop();
});

/** The first workers do not begin. */
function keep(idle: number, process = async (): Promise<void> => undefined): void {
  const open = (): Worker => {
    const autorun = opened.length >= idle;
    const worker = new Worker(
      'kept',
      async ({ data }) => {
        await process();
        done.push(data);
      },
      { connection, autorun },
    );
    worker.on('error', () => undefined);
    opened.push(worker);
    return worker;
  };
  kept = superviseWorker({ open, queue, onStuck: () => stuck++, lookMs: LOOK_MS });
}

test('a worker that takes no jobs is replaced, until one does', async () => {
  keep(2);
  await queue.add('job', 1);
  await until('the job is done', () => done.length === 1);
  expect([opened.length, stuck]).toEqual([3, 2]);
  await until('the others are closed', () => opened.slice(0, 2).every((one) => one.closing !== undefined));
});

test('a worker that has nothing to do, or is busy with one job while others wait, is left alone', async () => {
  keep(0, () => sleep(20 * LOOK_MS));
  await sleep(20 * LOOK_MS);
  await Promise.all([1, 2].map((n) => queue.add('job', n)));
  await until('both are done', () => done.length === 2);
  expect([opened.length, stuck]).toEqual([1, 0]);
});

test('a worker of a paused queue is left alone', async () => {
  keep(0);
  await queue.pause();
  await queue.add('job', 1);
  await sleep(20 * LOOK_MS);
  expect([opened.length, stuck, done.length]).toEqual([1, 0, 0]);
  await queue.resume();
  await until('it is done', () => done.length === 1);
});
