import { createArchivedReads } from '../../../../src/extensions/archive/store/archived-reads';
import { createForgetting } from '../../../../src/extensions/archive/store/forgetting';
import type { RunningRedis } from '../../../../src/local/redis';
import { hashBytes } from '../../../../src/store/records/order';
import { createMemoryArchive } from '../../../support/memory-archive';
import { startTestRedis } from '../../../support/redis';
import { openShardWorld, walletWithHome } from './world';

/** Orders that left their shard for the archive. */
let server: RunningRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());

const TOKEN = 'the test';
const LEASE_MS = 60_000;
const [alice, bob] = [walletWithHome(0, 4), walletWithHome(1, 4)];

test('a cancel by hash finds an order that left its shard', async () => {
  const archives = [0, 1, 2, 3].map(() => createMemoryArchive());
  const w = await openShardWorld({
    urls: [server.url],
    count: 4,
    pastOf: (redis, keys, shard) => createArchivedReads({ redis, keys, archive: archives[shard] as never }),
  });
  const { redis, run, shards } = w;
  const order = w.order(2, alice, 0, 0, 5_000, 200);
  await w.exchange.place(order);
  const { sequence } = await w.exchange.cancel(null, alice, order.orderHash, 'USER');
  const [keys, archive] = [shards[2], archives[2]];
  if (!keys || !archive) throw new Error('no shard');
  const forgetting = createForgetting({ redis, run, keys, archive, keepMs: 0 });
  expect(await forgetting.lease.take(TOKEN, LEASE_MS)).toBe(true);
  await forgetting.open();
  const packed = (await redis.hgetBuffer(keys.orders, hashBytes(order.orderHash))) as Buffer;
  const { orders } = await forgetting.move(TOKEN, {
    orders: [{ hash: hashBytes(order.orderHash), packed }],
  });
  expect(orders).toBe(1);
  const other = await openShardWorld({
    urls: [server.url],
    count: 4,
    isOpen: true,
    pastOf: (client, ofShard, shard) =>
      createArchivedReads({ redis: client, keys: ofShard, archive: archives[shard] as never }),
  });
  for (const { exchange } of [w, other]) {
    const found = await exchange.cancel(null, alice, order.orderHash, 'USER');
    expect(found).toMatchObject({ cancelled: false, sequence, record: { status: 'CANCELLED' } });
    const refused = exchange.cancel(null, bob, order.orderHash, 'USER');
    await expect(refused).rejects.toMatchObject({ code: 'ORDER_NOT_FOUND' });
    expect((await exchange.place(order)).replayed).toBe(true);
  }
  w.stop();
  other.stop();
});
