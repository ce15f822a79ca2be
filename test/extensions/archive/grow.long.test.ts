import { Redis } from 'ioredis';
import type { Archive } from '../../../src/extensions/archive/archive';
import { startArchiving } from '../../../src/extensions/archive/jobs/archiving';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { openSource } from '../../../src/extensions/archive/store/source';
import { noteShards } from '../../../src/extensions/shards/store/layout';
import type { RunningRedis } from '../../../src/local/redis';
import { addressBytes } from '../../../src/store/records/order';
import { createKeys } from '../../../src/store/redis/keys';
import { createShell } from '../../cli/shell';
import { openSettling } from '../../jobs/settling';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { READERS } from '../../support/readers';
import { startTestRedis } from '../../support/redis';
import { until } from '../../support/waiting';
import { walletWithHome } from '../shards/store/world';

const LIMIT_MS = 120_000;
const ORDERS = 5;

describeWithPostgres('an exchange with an archive that gets a second shard', () => {
  let postgres: TestPostgres;
  let server: RunningRedis;
  let redis: Redis;
  beforeAll(async () => {
    [postgres, server] = await Promise.all([startTestPostgres(), startTestRedis()]);
    redis = new Redis(server.url);
  }, LIMIT_MS);
  afterAll(async () => {
    redis?.disconnect();
    await Promise.all([postgres?.stop(), server?.stop()]);
  });

  /** Places and cancels orders in a shard; resolves when they have left for its archive. */
  async function archived(shard: number, shards: number, wallet: string): Promise<void> {
    const keys = createKeys(shard);
    const world = await openSettling(redis, keys);
    const market = await world.createMarket();
    for (let i = 0; i < ORDERS; i++) {
      const { record } = await world.place(market, 0, 4_000, 10, wallet);
      await world.engine.cancel(null, wallet, record.orderHash, 'USER');
    }
    for (const reader of ['broadcast', 'settlement', 'journal'])
      await redis.hset(keys.readers, reader, `${Date.now() + 60_000}-0`);
    const archive = createArchive({ url: postgres.url, shard, shards });
    const failures: string[] = [];
    const running = startArchiving({
      forgetting: createForgetting({ redis, run: world.run, keys, archive, keepMs: 0 }),
      openSource: () =>
        openSource({ redis, keys, readers: READERS, now: () => Date.now() + 1_000, keepMs: 0 }),
      onError: ({ message }) => failures.push(message),
    });
    try {
      await until('the orders leave', async () => (await redis.hlen(keys.orders)) === 0, {
        patienceMs: LIMIT_MS,
        explain: () => failures.join(),
      });
      expect(await ordersOf(archive, shard, wallet)).toBe(ORDERS);
    } finally {
      await running.stop();
      await archive.close();
    }
  }

  const ordersOf = async (archive: Archive, shard: number, wallet: string): Promise<number> =>
    (
      await createArchivedReads({ redis, keys: createKeys(shard), archive }).ofWallet(
        addressBytes(wallet),
        null,
        100,
      )
    ).length;

  test(
    'keeps what left before, and has a schema for the new shard',
    async () => {
      const [old, fresh] = [walletWithHome(1, 2), walletWithHome(1, 2, 1)];
      const shellOf = (shards: number) =>
        createShell(server.url, { SHARDS: String(shards), ARCHIVE_URL: postgres.url });
      const world = await openSettling(redis, createKeys());
      await noteShards(world, [createKeys()]);
      await archived(0, 1, old);
      const before = await shellOf(1).json('audit', '--archive');
      expect(before).toMatchObject({ ok: true, differences: [], archived: { orders: ORDERS } });

      expect(await shellOf(1).exchange('shards', 'grow', '--to', '2', '--halt', '--yes')).toMatchObject({
        code: 0,
        err: '',
      });
      expect(await shellOf(2).json('audit', '--archive')).toEqual({
        ...before,
        checked: { ...before.checked, balances: before.checked.balances + 1 },
      });
      expect((await shellOf(2).exchange('archive', 'status')).out).toContain('nothing was archived yet');
      const first = createArchive({ url: postgres.url, shard: 0, shards: 2 });
      expect(await ordersOf(first, 0, old)).toBe(ORDERS);
      await first.close();

      await archived(1, 2, fresh);
      expect(await shellOf(2).json('audit', '--archive')).toMatchObject({
        ok: true,
        differences: [],
        archived: { orders: 2 * ORDERS },
      });
    },
    LIMIT_MS,
  );
});
