import { createOutboxPolling } from '../../src/store/outbox/reader';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import type { RedisClient } from '../../src/store/redis/scripts';
import { startTestRedis } from '../support/redis';
import { READY_MS, sleep } from '../support/waiting';

/** Several outboxes on one connection, without a read that blocks it. */
const shards = [0, 1, 2, 3].map((k) => createKeys(k));
let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: RedisClient;
beforeEach(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
});
afterEach(async () => {
  disconnect(redis);
  await server.stop();
});

/** An entry of a market's outbox. */
const ENTRY = Buffer.concat([Buffer.from([3]), Buffer.from('abcdefgh'), Buffer.alloc(18 + 2 + 2 + 2)]);
const add = (shard: number) => redis.xadd(shards[shard]?.outbox ?? '', '*', 'e', ENTRY);

test('each reader has the entries of its own outbox, while the others wait', async () => {
  const polled = createOutboxPolling(redis);
  const readers = shards.map((keys) => polled(keys));
  const idle = readers.slice(0, 3).map((reader) => reader.read('0-0', 10, 400));
  const woken = readers[3]?.read('0-0', 10, 5_000);
  await sleep(60);
  const id = await add(3);
  const beganAtMs = performance.now();
  expect(await woken).toMatchObject([{ id, event: { kind: 'CANCEL', marketId: 'abcdefgh' } }]);
  expect(performance.now() - beganAtMs).toBeLessThan(400);
  expect(await Promise.all(idle)).toEqual([[], [], []]);
  expect(await readers[3]?.lastId()).toBe(id);
  expect(await readers[3]?.read(id ?? '', 10, 1)).toEqual([]);
});

test('entries that are there already come at once, oldest first and no more than asked', async () => {
  const ids = [await add(1), await add(1), await add(1)];
  const reader = createOutboxPolling(redis)(shards[1] as (typeof shards)[number]);
  const found = await reader.read('0-0', 2, 60_000);
  expect(found.map((entry) => entry.id)).toEqual(ids.slice(0, 2));
});

test('a read ends when its connection does', async () => {
  const reader = createOutboxPolling(redis)(shards[2] as (typeof shards)[number]);
  const waiting = reader.read('0-0', 1, 60_000);
  const ended = expect(waiting).rejects.toThrow();
  await sleep(50);
  disconnect(redis);
  await ended;
});
