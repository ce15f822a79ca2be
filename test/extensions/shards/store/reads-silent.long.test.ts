import { Refusal } from '../../../../src/exchange/errors';
import { memoryOf } from '../../../../src/extensions/console/store/overview';
import { tagOf } from '../../../../src/store/redis/tags';
import { startTestCluster, type TestCluster } from '../../../support/redis';
import { openReading, type TestReading } from './reading';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/** Four shards on three masters, of which one does not answer: what needs its shards is an error, and the rest is answered. */
const COUNT = 4;
const LIMIT_MS = 120_000;
/** A command fails after 2 s, and some reads look twice. */
const SILENT_MS_MAX = 3_500;

let cluster: TestCluster;
let world: ShardWorld;
let reading: TestReading;
beforeAll(async () => {
  cluster = await startTestCluster(3);
  world = await openShardWorld({ urls: cluster.url.split(','), count: COUNT });
  reading = await openReading({
    redis: world.redis,
    run: world.run,
    shards: world.shards,
    marketIds: world.ids,
    shardOf: (id: string) => Number(id.slice(-2)),
    grantMicro: GRANT,
    now: () => Date.now(),
  });
}, LIMIT_MS);
afterAll(async () => {
  world.stop();
  await cluster.stop();
});

/** The masters of the shards, in their order. */
async function mastersOf(): Promise<number[]> {
  const { redis } = world;
  if (!('nodes' in redis)) throw new Error('not a cluster');
  return Promise.all(
    Array.from({ length: COUNT }, async (_, shard) => {
      const slot = Number(await redis.cluster('KEYSLOT', `{${tagOf(shard)}}`));
      const [name = ''] = redis.slots[slot] ?? [];
      return cluster.nodes.findIndex(({ port }) => name.endsWith(`:${port}`));
    }),
  );
}

test('the overview has the memory of every master', async () => {
  const { redis, shards } = world;
  if (!('nodes' in redis)) throw new Error('not a cluster');
  const found = await memoryOf({ redis, partitions: shards.map((keys) => ({ keys })) });
  expect(found).toEqual({ usedBytes: expect.any(Number), maxBytes: null });
  const used = await Promise.all(
    redis.nodes('master').map(async (node) => {
      const info = await node.info('memory');
      return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
    }),
  );
  const sum = used.reduce((all, bytes) => all + bytes, 0);
  expect(Math.abs(found.usedBytes - sum)).toBeLessThan(Math.min(...used));
});

async function within<T>(task: Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await task;
  } finally {
    expect(performance.now() - startedAt).toBeLessThan(SILENT_MS_MAX);
  }
}

test(
  'a silent shard makes no smaller sum and no missing order',
  async () => {
    const masters = await mastersOf();
    const home = 0;
    const silent = [1, 2, 3].find((shard) => masters[shard] !== masters[home]) as number;
    const live = [1, 2, 3].find((shard) => shard !== silent && masters[shard] !== masters[silent]) as number;
    const [wide, narrow] = [walletWithHome(home, COUNT), walletWithHome(home, COUNT, 1)];
    const place = async (shard: number, wallet: string): Promise<string> => {
      const order = world.order(shard, wallet, 0, 0, 100, 1_000);
      await world.exchange.place(order);
      return order.orderHash;
    };
    const there = await place(silent, wide);
    const here = await place(live, wide);
    const own = await place(home, narrow);
    const before = await reading.reads.balances(narrow);
    expect(await reading.reads.openCount(wide)).toBe(2);
    const fresh = await openReading({
      redis: world.redis,
      run: world.run,
      shards: world.shards,
      marketIds: [],
      shardOf: () => 0,
      grantMicro: GRANT,
      now: () => Date.now(),
    });
    const { pid } = cluster.nodes[masters[silent] as number] ?? { pid: 0 };
    process.kill(pid, 'SIGSTOP');
    try {
      const page = { limit: 10, cursor: null };
      const failing: readonly (() => Promise<unknown>)[] = [
        () => reading.reads.balances(wide),
        () => reading.reads.openCount(wide),
        () => reading.reads.orders(wide, {}, page),
        () => reading.journal.rows(wide, {}, page),
        () => reading.journal.positions(wide, {}, page),
        () => reading.profiles.profile(wide),
        () => reading.settlements.list({}, page),
        () => reading.settlements.counts(),
        () => reading.reads.order(there),
        () => fresh.reads.order(there),
        () => fresh.reads.records([there, here]),
        () => fresh.reads.order(`0x${'7'.repeat(64)}`),
      ];
      const ends = await Promise.all(failing.map((ask) => within(ask().then(() => null, String))));
      expect(ends.filter((end) => end === null || /NOT_FOUND/.test(end))).toEqual([]);
      // The other shards answer, also a process that does not know yet where an order is.
      expect((await reading.reads.order(here))?.record.orderHash).toBe(here);
      expect((await within(fresh.reads.order(here)))?.record.orderHash).toBe(here);
      expect([...(await within(fresh.reads.records([here, own]))).keys()].sort()).toEqual([here, own].sort());
      expect(await reading.reads.balances(narrow)).toEqual(before);
      expect((await reading.reads.orders(narrow, {}, page)).orders).toHaveLength(1);
      const marketId = world.ids[live] ?? '';
      expect((await reading.reads.orders(wide, { marketId }, page)).orders).toHaveLength(1);
      const sick = await reading.reads.view(world.ids[silent] ?? '').catch((error: unknown) => error);
      expect(sick).toBeInstanceOf(Error);
      expect(sick).not.toBeInstanceOf(Refusal);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },
  LIMIT_MS,
);
