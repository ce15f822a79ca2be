import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { TRACES } from '../../../src/store/records/layout';
import { hashBytes } from '../../../src/store/records/order';
import { withWorlds } from '../../store/engine/setup';
import { alice, START_SECOND } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';

const { world } = withWorlds();
const [TOKEN, LEASE_MS, KEEP_MS] = ['the test', 60_000, 60_000];
const YES = 0;
/** With this number of buckets, half of the traces of bucket 20 belong into the next one. */
const [BUCKETS, MANY] = [52, 9_000];

const [PRIME, LEFT_OUT] = [1_000_000_007, 1_024];
const FACTOR = 654_321;
const NOTED = { buckets: BUCKETS, span: 64, factor: FACTOR, expiredSec: 0, traces: BUCKETS * 200 };

/** The last part of traces of bucket 20, half of which belong into the next one. */
const lastOf = (i: number): number => {
  for (let last = i * 100_000; ; last++)
    if (Math.floor(((last * FACTOR) % PRIME) / LEFT_OUT) % 32 === 20) return last;
};

test('orders leave a market although thousands of its traces share a bucket', async () => {
  await world().market();
  const { redis, run, keys, engine } = world();
  const forgetting = createForgetting({ redis, run, keys, archive: createMemoryArchive() });
  await forgetting.lease.take(TOKEN, LEASE_MS);
  await forgetting.open();
  const order = world().buy(alice, YES, '10', '0.40');
  await engine.place(order);
  await engine.cancel(null, alice, order.orderHash, 'USER');
  const traces = Array.from({ length: MANY }, (_, i) => `7${String(lastOf(i)).padStart(9, '0')}`);
  await redis.sadd('{x0}:m:market00:g\0\0\x14', ...traces);
  await redis.hset(keys.market('market00'), 'g', TRACES.pack(NOTED));
  await world().clock(START_SECOND * 1_000 + KEEP_MS);
  const hash = hashBytes(order.orderHash);
  const packed = (await redis.hgetBuffer(keys.orders, hash)) as Buffer;
  const gone = await forgetting.move(TOKEN, { orders: [{ hash, packed }] });
  expect(gone.orders).toBe(1);
  // A bucket this full is not split, because that would hold up Redis; the new trace is added all the same.
  const buckets = await redis.keysBuffer('{x0}:m:market00:g*');
  const counts = await Promise.all(buckets.map((key) => redis.scard(key)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(MANY + 1);
  const now = (await redis.hgetBuffer(keys.market('market00'), 'g')) as Buffer;
  expect(TRACES.read(now)).toEqual({ ...NOTED, traces: NOTED.traces + 1 });
  expect(await redis.exists('{x0}:m:market00:g\0\0\x34')).toBe(0);
});
