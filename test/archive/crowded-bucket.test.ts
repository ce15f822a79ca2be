import { createForgetting } from '../../src/store/archive/forgetting';
import { TRACES } from '../../src/store/records/layout';
import { hashBytes } from '../../src/store/records/order';
import { STAMPED_BYTES } from '../../src/store/records/trace';
import { withWorlds } from '../store/engine/setup';
import { alice, START_SECOND } from '../support/engine-world';
import { createMemoryArchive } from '../support/memory-archive';

const { world } = withWorlds();
const [TOKEN, LEASE_MS, KEEP_MS] = ['the test', 60_000, 60_000];
const YES = 0;
/** Of so many buckets, half of the traces of bucket 20 belong into the next one. */
const [BUCKETS, MANY] = [52, 9_000];

const [PRIME, LEFT_OUT] = [1_000_000_007, 1_024];
const FACTOR = 654_321;
/** 52 buckets, 10,400 traces, in the form without a factor. */
const OLDER = Buffer.from('000000340000000028a00000000000', 'hex');
const NEWER = { buckets: BUCKETS, span: 64, factor: FACTOR, expiredSec: 0, traces: BUCKETS * 200 };

/** The last part of traces of bucket 20, half of which belong into the next one; with a factor of the market. */
const lastOf = (i: number, factor: number): number => {
  const left = factor === 1 ? 1 : LEFT_OUT;
  for (let last = i * 100_000; ; last++)
    if (Math.floor(((last * factor) % PRIME) / left) % 32 === 20) return last;
};

test.each([
  ['', TRACES.pack(NEWER), '\0\0\x14', '\0\0\x34', FACTOR],
  [', in a market that had traces before there was a factor', OLDER, '20', '52', 1],
])(
  'orders leave a market although thousands of its traces share a bucket%s',
  async (_, noted, full, next, factor) => {
    await world().market();
    const { redis, run, keys, engine } = world();
    const forgetting = createForgetting({ redis, run, keys, archive: createMemoryArchive() });
    await forgetting.lease.take(TOKEN, LEASE_MS);
    await forgetting.open();
    const order = world().buy(alice, YES, '10', '0.40');
    await engine.place(order);
    await engine.cancel(null, alice, order.orderHash, 'USER');
    const traces = Array.from({ length: MANY }, (_, i) => `7${String(lastOf(i, factor)).padStart(9, '0')}`);
    await redis.sadd(`{x0}:m:market00:g${full}`, ...traces);
    await redis.hset(keys.market('market00'), 'g', noted);
    await world().clock(START_SECOND * 1_000 + KEEP_MS);
    const hash = hashBytes(order.orderHash);
    const packed = (await redis.hgetBuffer(keys.orders, hash)) as Buffer;
    const gone = await forgetting.move(TOKEN, { orders: [{ hash, packed }] });
    expect(gone.orders).toBe(1);
    // A bucket of so many is not split, because that would hold up Redis; the new trace is there all the same.
    const buckets = await redis.keysBuffer('{x0}:m:market00:g*');
    const counts = await Promise.all(buckets.map((key) => redis.scard(key)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(MANY + 1);
    const now = await redis.hgetBuffer(keys.market('market00'), 'g');
    const bytes = noted === OLDER ? OLDER.length : STAMPED_BYTES;
    expect([now?.length, now?.readUInt32BE()]).toEqual([bytes, BUCKETS]);
    expect(await redis.exists(`{x0}:m:market00:g${next}`)).toBe(0);
  },
);
