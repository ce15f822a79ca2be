import { TRACES } from '../../../src/store/records/layout';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { withWorlds } from '../../store/engine/setup';
import { alice } from '../../support/engine-world';
import { sizeOf } from '../../support/sample';
import { traceOf } from '../../support/trace';
import { archivingIn, cancelled, KEEP_MS, START_MS, YES } from './archiving';

/** The traces that orders leave behind in Redis. */
const { world } = withWorlds();
const { archiving, traces } = archivingIn(world);

const FIRST_BUCKET = '{x0}:m:market00:g\0\0\0';

/** The first 8 bytes of hashes: the ends of the numbers of 32 bits and of 10^9; some share a trace. */
const HEADS = [
  ...['0000000000000000', '0000000000000001', '000000003b9ac9ff', '000000003b9aca00', '00000000ffffffff'],
  ...['0000000100000000', '001fffffffffffff', '0020000000000001', '7fffffffffffffff', '8000000000000000'],
  ...['8000000000000001', 'ffffffff00000000', 'ffffffff00000001', 'fffffffffffffffe', 'ffffffffffffffff'],
  ...['fffffffc46535f00', '0de0b6b3a763ffff', 'f21f494c589c0001', '123456789abcdef0', 'fedcba9876543210'],
];

test('a trace is made of the first 64 bits of the hash, to the last digit, and the order behind it is found', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const orders: PlaceRequest[] = [];
  for (const head of HEADS) {
    const orderHash = `0x${head}${'5'.repeat(48)}`;
    orders.push(await cancelled(engine, { ...world().buy(alice, YES, '1', '0.10'), orderHash }));
  }
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(...orders)).toBe(HEADS.length);
  const found = await world().redis.smembers(FIRST_BUCKET);
  expect(found.sort()).toEqual([...new Set(HEADS.map((head) => traceOf(`0x${head}`)))].sort());
  expect(await world().redis.object('ENCODING', FIRST_BUCKET)).toBe('intset');
  for (const order of orders) expect((await engine.place(order)).replayed).toBe(true);
});

test('a trace of another order costs a question: the order is booked, once', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const before = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  await forget(before);
  const order = world().buy(alice, YES, '10', '0.45');
  await world().redis.sadd(FIRST_BUCKET, traceOf(order.orderHash));
  expect(await engine.place(order)).toMatchObject({ replayed: false, record: { status: 'OPEN' } });
  expect((await engine.place(order)).replayed).toBe(true);
  expect((await world().balance(alice)).cash).toBe('9995.5 (4.5)');
  await engine.cancel(null, alice, order.orderHash, 'USER');
  await world().clock(START_MS + 2 * KEEP_MS);
  expect([await forget(order), await traces()]).toEqual([1, 2]);
});

test('a market draws a factor with its first trace, and keeps it', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const drawn: number[] = [];
  for (let n = 1; n <= 3; n++) {
    const order = await cancelled(engine, world().buy(alice, YES, '1', '0.10'));
    await world().clock(START_MS + n * KEEP_MS);
    await forget(order);
    const noted = (await world().redis.hgetBuffer('{x0}:m:market00', 'g')) as Buffer;
    expect(TRACES.read(noted)).toMatchObject({ buckets: 1, span: 2, traces: n });
    drawn.push(TRACES.get.factor(noted));
  }
  expect(new Set(drawn).size).toBe(1);
  expect(drawn[0]).toBeGreaterThan(1);
});

const MANY = sizeOf('ARCHIVE_ORDERS', 1_000, 20_000);
const STEP = 200;

test('the traces of many orders stay in small buckets, and each of them is found', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const { redis } = world();
  const sent: PlaceRequest[] = [];
  for (let from = 0; from < MANY; from += STEP) {
    const part = Array.from({ length: STEP }, () => world().buy(alice, YES, '1', '0.01'));
    await Promise.all(part.map((order) => engine.place(order)));
    await engine.cancelAll(alice, {});
    await world().clock(world().now() + KEEP_MS);
    expect(await forget(...part)).toBe(STEP);
    sent.push(...part);
  }
  expect(await traces()).toBe(MANY);
  const buckets = await redis.keysBuffer('{x0}:m:market00:g*');
  const sizes = await Promise.all(buckets.map((key) => redis.scard(key)));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(512);
  const forms = await Promise.all(buckets.map((key) => redis.object('ENCODING', key)));
  expect(new Set(forms)).toEqual(new Set(['intset']));
  for (let from = 0; from < MANY; from += STEP) {
    const again = await Promise.all(sent.slice(from, from + STEP).map((order) => engine.place(order)));
    expect(again.filter(({ replayed }) => !replayed)).toEqual([]);
  }
  expect((await world().balance(alice)).cash).toBe('10000 (0)');
}, 600_000);
