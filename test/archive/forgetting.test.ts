import type { Archive } from '../../src/exchange/archive';
import { NOTHING } from '../../src/exchange/archive';
import { Refusal } from '../../src/exchange/errors';
import { createForgetting, Fenced } from '../../src/store/archive/forgetting';
import { isOver } from '../../src/store/archive/leaving';
import { createPast } from '../../src/store/archive/past';
import { dropOldMonths, keptFrom } from '../../src/store/archive/retention';
import { hashBytes } from '../../src/store/records/order';
import { createEngine } from '../../src/store/verbs/engine';
import type { PlaceRequest } from '../../src/store/verbs/place';
import { withWorlds } from '../store/engine/setup';
import { alice, bob, parseMicro, START_SECOND } from '../support/engine-world';
import { createMemoryArchive } from '../support/memory-archive';

/** The orders that leave Redis, and the answers about them; the archive itself is in memory here. */
const { world } = withWorlds();
const TOKEN = 'the test';
const LEASE_MS = 60_000;
const KEEP_MS = 60_000;
const YES = 0;
const START_MS = START_SECOND * 1_000;

function archiving(archive: Archive = createMemoryArchive()) {
  const { redis, run, keys } = world();
  const past = createPast({ redis, keys, archive });
  const forgetting = createForgetting({ redis, run, keys, archive });
  const engine = createEngine({ run, grantMicro: parseMicro('10000'), makersMax: 500, past });
  const stored = async (requests: readonly PlaceRequest[]) => {
    const raw = requests.map(({ orderHash }) => hashBytes(orderHash));
    const packed = await redis.hmgetBuffer(keys.orders, ...raw);
    return raw.map((hash, i) => ({ hash, packed: packed[i] as Buffer }));
  };
  return {
    ...{ archive, past, forgetting, engine, stored },
    async open() {
      expect(await forgetting.lease.take(TOKEN, LEASE_MS)).toBe(true);
      await forgetting.open();
    },
    forget: async (...requests: PlaceRequest[]) =>
      (await forgetting.move(TOKEN, { orders: await stored(requests) })).orders,
    isHere: async ({ orderHash }: PlaceRequest) =>
      (await redis.hexists(keys.orders, hashBytes(orderHash))) === 1,
  };
}

const cancelled = async (engine: ReturnType<typeof createEngine>, request: PlaceRequest) => {
  await engine.place(request);
  await engine.cancel(null, request.maker, request.orderHash, 'USER');
  return request;
};
const traces = async (): Promise<number> => {
  const { redis } = world();
  const buckets = await redis.keys('{x0}:m:market00:g*');
  const counts = await Promise.all(buckets.map((key) => redis.scard(key)));
  return counts.reduce((sum, count) => sum + count, 0);
};
const refusal = async (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'none',
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );

test('an order that has left Redis is booked no second time: it is answered with its record when it is sent again', async () => {
  await world().market();
  const { engine, open, forget, isHere } = archiving();
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(order)).toBe(1);
  expect([await isHere(order), await traces()]).toEqual([false, 1]);
  const again = await engine.place(order);
  expect([again.replayed, again.record.status, again.record.orderHash]).toEqual([
    true,
    'CANCELLED',
    order.orderHash,
  ]);
  const { record, cancelled: isNew } = await engine.cancel(null, alice, order.orderHash, 'USER');
  expect([record.status, isNew]).toEqual(['CANCELLED', false]);
  expect(await refusal(engine.cancel(null, bob, order.orderHash, 'USER'))).toBe('ORDER_NOT_FOUND');
  const { results } = await engine.cancelMany('market00', alice, [order.orderHash], 'USER');
  expect(results.map((one) => [one.record?.status, one.cancelled])).toEqual([['CANCELLED', false]]);
  const other = world().buy(alice, YES, '10', '0.41');
  expect(await refusal(engine.replace(other, order.orderHash))).toBe('ORDER_NOT_CANCELLABLE');
  expect((await world().balance(alice)).cash).toBe('10000 (0)');
});

test('an order stays in Redis while it rests, when it has traded, and for a minute after its end', async () => {
  await world().market();
  const { engine, open, forget, stored } = archiving();
  await open();
  const resting = world().buy(alice, YES, '10', '0.40');
  const young = await cancelled(engine, world().buy(alice, YES, '10', '0.30'));
  const [maker, taker] = [world().buy(alice, YES, '10', '0.60'), world().buy(bob, 1, '10', '0.40')];
  for (const order of [resting, maker, taker]) await engine.place(order);
  const records = await stored([resting, young, maker, taker]);
  expect(records.map(({ packed }) => isOver(packed, START_MS, () => null))).toEqual([
    false,
    true,
    false,
    false,
  ]);
  await world().clock(START_MS + KEEP_MS - 1);
  expect(await forget(young)).toBe(0);
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(young, young)).toBe(1);
});

test('an order that the rules refuse in any case leaves no trace, and is answered with its record all the same', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const expired = await cancelled(
    engine,
    world().buy(alice, YES, '10', '0.40', { expires: START_SECOND + 60 }),
  );
  const lower = await cancelled(engine, world().buy(bob, YES, '10', '0.40'));
  await engine.raiseNonce(bob, 'raise');
  const day = 86_400_000;
  await world().clock(START_MS + KEEP_MS + day - 1);
  expect(await forget(lower)).toBe(1);
  expect(await traces()).toBe(0);
  expect(await refusal(engine.place(world().buy(bob, YES, '10', '0.40')))).toBe('INVALID_NONCE_VALUE');
  expect((await engine.place(lower)).replayed).toBe(true);
  await world().clock(START_MS + KEEP_MS + day);
  expect(await forget(expired)).toBe(1);
  expect(await traces()).toBe(0);
  expect((await engine.place(expired)).replayed).toBe(true);
  const last = await cancelled(engine, world().buy(alice, YES, '10', '0.20'));
  const closing = world().buy(alice, YES, '10', '0.10');
  await engine.place(closing);
  await world().clock(START_MS + 2 * KEEP_MS + day);
  expect(await forget(last)).toBe(1);
  expect(await traces()).toBe(1);
  await engine.moveMarket('market00', 'CLOSED', ['OPEN']);
  await engine.clearBook('market00');
  await world().clock(START_MS + 3 * KEEP_MS + day);
  expect(await forget(closing)).toBe(1);
  const { forgetting } = archiving();
  await forgetting.dropTraces();
  expect(await traces()).toBe(0);
  for (const order of [last, closing]) expect((await engine.place(order)).replayed).toBe(true);
  expect(await refusal(engine.place(world().buy(alice, YES, '10', '0.15')))).toBe('MARKET_NOT_OPEN');
});

/** The trace of a hash (lua/lib/traces.lua): its first 32 bits and 1, then the next 32 bits less what is above 10^9. */
const traceOf = (head: string): string =>
  `${Number.parseInt(head.slice(0, 8), 16) + 1}${String(Number.parseInt(head.slice(8), 16) % 1e9).padStart(9, '0')}`;

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
  const found = await world().redis.smembers('{x0}:m:market00:g0');
  expect(found.sort()).toEqual([...new Set(HEADS.map(traceOf))].sort());
  expect(await world().redis.object('ENCODING', '{x0}:m:market00:g0')).toBe('intset');
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
  await world().redis.sadd('{x0}:m:market00:g0', traceOf(order.orderHash.slice(2, 18)));
  expect(await engine.place(order)).toMatchObject({ replayed: false, record: { status: 'OPEN' } });
  expect((await engine.place(order)).replayed).toBe(true);
  expect((await world().balance(alice)).cash).toBe('9995.5 (4.5)');
  await engine.cancel(null, alice, order.orderHash, 'USER');
  await world().clock(START_MS + 2 * KEEP_MS);
  expect([await forget(order), await traces()]).toEqual([1, 2]);
});

test('with the archive away, or older than what left Redis, an order with a trace is not booked', async () => {
  await world().market();
  const memory = createMemoryArchive();
  const { engine, open, forget } = archiving(memory);
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  await forget(order);
  const silent = async (): Promise<never> => {
    throw new Refusal('UNAVAILABLE');
  };
  const away = archiving({ ...memory, orders: silent, state: silent });
  expect(await refusal(away.engine.place(order))).toBe('UNAVAILABLE');
  expect(await refusal(away.engine.cancel(null, alice, order.orderHash, 'USER'))).toBe('UNAVAILABLE');
  const older = createMemoryArchive();
  expect(await refusal(archiving(older).engine.place(order))).toBe('UNAVAILABLE');
  // A process that knows of no archive.
  expect(await refusal(world().engine.place(order))).toBe('UNAVAILABLE');
  expect((await away.engine.place(world().buy(alice, YES, '10', '0.20'))).replayed).toBe(false);
  await expect(archiving(older).forgetting.open()).rejects.toThrow('put back a newer copy');
});

test('an order whose month the archive has dropped is booked no second time', async () => {
  await world().market();
  const { archive, engine, open, forget } = archiving();
  await open();
  const traced = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  const refused = await cancelled(engine, world().buy(bob, YES, '10', '0.40'));
  await engine.raiseNonce(bob, 'raise');
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(traced, refused)).toBe(2);
  const months = (count: number) => keptFrom(START_MS, -count);
  expect(await dropOldMonths(archive, null, months(9))).toBe(0);
  expect(await dropOldMonths(archive, 2, months(3) - 1)).toBe(0);
  expect((await engine.place(traced)).replayed).toBe(true);
  expect(await dropOldMonths(archive, 2, months(3))).toBe(2);
  expect(await refusal(engine.place(traced))).toBe('DUPLICATE_ORDER');
  expect(await refusal(engine.place(refused))).toBe('INVALID_NONCE_VALUE');
  expect(await refusal(engine.cancel(null, alice, traced.orderHash, 'USER'))).toBe('ORDER_NOT_FOUND');
  expect((await world().balance(alice)).cash).toBe('10000 (0)');
});

test('a process that lost the lease forgets nothing, and the next holder takes its batch back', async () => {
  await world().market();
  const { archive, engine, open, forget, isHere, forgetting, stored } = archiving();
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  await forgetting.lease.release(TOKEN);
  await forgetting.lease.take('another', LEASE_MS);
  await expect(forget(order)).rejects.toThrow(Fenced);
  expect([await isHere(order), (await archive.state())?.batch]).toEqual([true, 1]);
  const next = archiving(archive);
  await next.forgetting.lease.take('another', LEASE_MS);
  await next.forgetting.open();
  expect((await archive.state())?.batch).toBe(0);
  expect(await archive.orders([hashBytes(order.orderHash)])).toEqual([]);
  expect((await next.forgetting.move('another', { orders: await stored([order]) })).orders).toBe(1);
  expect((await engine.place(order)).replayed).toBe(true);
});

test('nothing is forgotten while the exchange is HALTED', async () => {
  await world().market();
  const { archive, engine, open, forget, isHere, forgetting } = archiving();
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await engine.setMode('HALTED');
  await world().clock(START_MS + KEEP_MS);
  await expect(forget(order)).rejects.toThrow(Fenced);
  expect(await isHere(order)).toBe(true);
  // Or the same batch would be added and deleted again and again.
  await expect(forgetting.open()).rejects.toThrow(Fenced);
  expect((await archive.state())?.batch).toBe(1);
});

test('an exchange takes no archive that another one has filled', async () => {
  const memory = createMemoryArchive();
  await memory.append(1, NOTHING);
  await expect(archiving(memory).forgetting.open()).rejects.toThrow('another exchange');
});

const MANY = Number(process.env.ARCHIVE_ORDERS ?? 2_000);
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
  const buckets = await redis.keys('{x0}:m:market00:g*');
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
