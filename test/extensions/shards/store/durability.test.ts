import { durabilityOverShards } from '../../../../src/extensions/shards/store/durability';
import { createDurabilityChecks } from '../../../../src/store/health/durability';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts, type RedisClient } from '../../../../src/store/redis/scripts';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';

/** One epoch for all shards: a loss in any of them is another name, which every process tells, once. */
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

function process(shards = 4) {
  const run = createScripts(redis);
  const parts = Array.from({ length: shards }, (_, k) =>
    createDurabilityChecks({ redis, run, keys: createKeys(k), promised: null }),
  );
  const durability = durabilityOverShards(parts);
  const heard: string[] = [];
  durability.onEpoch((epoch, before) => heard.push(`${before} ${epoch}`));
  return { durability, parts, heard };
}

test('every process gives the shards the same epoch', async () => {
  const [one, other] = [process(), process()];
  expect(one.durability.current()).toBeNull();
  const first = await one.durability.refresh();
  expect(first).toMatchObject({
    isFirst: true,
    isCertain: true,
    replicaLagBytes: null,
    gap: null,
    epoch: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(await other.durability.refresh()).toEqual(first);
  expect(one.heard).toEqual([]);
});

test('a process that has read commands finds their loss, also when another process has begun a history before', async () => {
  const keys = createKeys(0);
  const [old, young] = [process(1), process(1)];
  await redis.xadd(keys.outbox, '5-0', 'e', 'x');
  await redis.hset(keys.markets, 'm', '{}');
  await old.durability.refresh();
  await redis.flushall();
  expect(await young.durability.refresh()).toMatchObject({ isFirst: true, lostMs: null });
  const found = await old.durability.refresh();
  expect(found).toMatchObject({ isFirst: false, lostMs: expect.any(Number) });
  expect(await young.durability.refresh()).toEqual(found);
  expect(await process(1).durability.refresh()).toEqual(found);
  await redis.hdel(keys.epoch, 'lost');
  expect(await old.durability.refresh()).toMatchObject({ lostMs: null });
});

test('entries that trimming deleted are not missed, and one in the middle is', async () => {
  const keys = createKeys(0);
  const { durability, parts, heard } = process(1);
  for (const id of ['5-0', '6-0', '7-0']) await redis.xadd(keys.outbox, id, 'e', 'x');
  await durability.refresh();
  await redis.xadd(keys.outbox, '8-0', 'e', 'x');
  await redis.xtrim(keys.outbox, 'MINID', '8-0');
  await durability.refresh();
  parts[0]?.saw('9-0');
  await redis.xadd(keys.outbox, '9-0', 'e', 'x');
  await redis.xadd(keys.outbox, '10-0', 'e', 'x');
  await durability.refresh();
  expect(heard).toEqual([]);
  await redis.xdel(keys.outbox, '10-0');
  await redis.xadd(keys.outbox, '11-0', 'e', 'x');
  await durability.refresh();
  expect(heard).toHaveLength(1);
  await durability.refresh();
  expect(heard).toHaveLength(1);
});

test.each([0, 1, 2, 3])('a loss in shard %i alone is another epoch of the exchange', async (shard) => {
  const { durability, parts, heard } = process();
  const { epoch: before } = await durability.refresh();
  const doubts = durability.doubts();
  await redis.hset(createKeys(shard).epoch, 'name', 'another copy of the data');
  // The shard's own check notices it first, between two checks of all.
  await parts[shard]?.refresh();
  const { epoch, isFirst } = await durability.refresh();
  expect(epoch).not.toBe(before);
  expect(isFirst).toBe(false);
  expect(heard).toEqual([`${before} ${epoch}`]);
  expect(durability.doubts()).toBe(doubts + 1);
});
