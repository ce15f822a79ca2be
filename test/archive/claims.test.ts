import { createTraceClaims, type TraceClaims } from '../../src/store/archive/trace-claims';
import { TRACES } from '../../src/store/records/layout';
import { createEngine } from '../../src/store/verbs/engine';
import type { PlaceRequest } from '../../src/store/verbs/place';
import { withWorlds } from '../store/engine/setup';
import { alice, parseMicro, START_SECOND } from '../support/engine-world';
import { EAGER } from '../support/trace-claims';
import { until } from '../support/waiting';
import { archivingIn, cancelled, KEEP_MS, refusal, START_MS, YES } from './archiving';

/** Orders of which a process says that they have no trace (src/store/archive/trace-claims.ts). */
const { world } = withWorlds();
const { archiving } = archivingIn(world);

const MARKET = 'market00';
const KEY = '{x0}:m:market00';
const LATEST = `${KEY}:lt`;
const order = (expires = 0): PlaceRequest => world().buy(alice, YES, '1', '0.01', { expires });
const field = async (): Promise<Buffer> => (await world().redis.hgetBuffer(KEY, 'g')) as Buffer;

/** Whether a claim is for the market's traces as they are now. */
async function isCurrent(claims: TraceClaims): Promise<boolean> {
  return claims.claim(MARKET, order().orderHash, 0)?.equals(await field()) ?? false;
}
const current = (claims: TraceClaims): Promise<unknown> =>
  until('the traces are known', () => isCurrent(claims));

/** How often a script looked for a trace. */
async function looks(): Promise<number> {
  const stats = await world().redis.info('commandstats');
  return Number(/cmdstat_sismember:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

type Archiving = ReturnType<typeof archiving>;

/** Orders that are cancelled and leave. */
async function leave({ engine, forget }: Archiving, count: number, expires = 0): Promise<PlaceRequest[]> {
  const orders: PlaceRequest[] = [];
  for (let i = 0; i < count; i++) orders.push(await cancelled(engine, order(expires)));
  await world().clock(world().now() + KEEP_MS);
  expect(await forget(...orders)).toBe(count);
  return orders;
}

async function expectKnown(
  engine: Pick<Archiving['engine'], 'place'>,
  orders: readonly PlaceRequest[],
): Promise<void> {
  for (const one of orders) expect((await engine.place(one)).replayed).toBe(true);
}

async function opened(): Promise<Archiving> {
  await world().market();
  const parts = archiving();
  await parts.open();
  return parts;
}

test('an order that certainly has no trace is booked without a look, and one that left is found', async () => {
  const parts = await opened();
  const { engine, claims } = parts;
  const left = await leave(parts, 3);
  await current(claims);
  const before = await looks();
  const placed = order();
  expect((await engine.place(placed)).replayed).toBe(false);
  expect((await engine.replace(order(), placed.orderHash)).old?.status).toBe('CANCELLED');
  expect(await looks()).toBe(before);
  await expectKnown(engine, left);
  expect(await looks()).toBeGreaterThan(before);
});

test('a claim for the traces before others came is worth nothing: the script looks', async () => {
  const parts = await opened();
  const { claims, forget } = parts;
  await leave(parts, 2);
  await current(claims);
  const last = await cancelled(parts.engine, order());
  const old = claims.claim(MARKET, last.orderHash, 0);
  expect(old).toEqual(await field());
  await world().clock(world().now() + KEEP_MS);
  expect(await forget(last)).toBe(1);
  // A process that was stopped between its look and its call.
  const { run, keys } = world();
  const late = createEngine({
    ...{ run, keys, grantMicro: parseMicro('10000'), makersMax: 500, past: parts.past },
    claims: { claim: () => old },
  });
  const before = await looks();
  await expectKnown(late, [last]);
  expect(await looks()).toBeGreaterThan(before);
});

test('a process that missed a change of the traces begins again, and finds every order meanwhile', async () => {
  const parts = await opened();
  const { engine, claims } = parts;
  const left = await leave(parts, 2);
  await current(claims);
  left.push(...(await leave(parts, 1)));
  await world().redis.del(LATEST);
  left.push(...(await leave(parts, 1)));
  await world().redis.xdel(LATEST, '0-1');
  await expectKnown(engine, left);
  await current(claims);
  await expectKnown(engine, left);
  for (const { orderHash } of left) expect(claims.claim(MARKET, orderHash, 0)).toBeNull();
});

test('the changes of traces go after a minute, and are a hundred or two', async () => {
  const parts = await opened();
  const { redis } = world();
  for (let n = 0; n < 3; n++) await leave(parts, 1);
  expect(await redis.xlen(LATEST)).toBe(3);
  expect(await redis.pttl(LATEST)).toBeGreaterThan(50_000);
  expect(await redis.pttl(LATEST)).toBeLessThanOrEqual(60_000);
  for (let n = 0; n < 250; n++) await leave(parts, 1);
  expect(await redis.xlen(LATEST)).toBeLessThanOrEqual(200);
  await parts.engine.moveMarket(MARKET, 'CLOSED', ['OPEN']);
  await parts.forgetting.dropTraces();
  expect(await redis.exists(LATEST)).toBe(0);
});

test('a field without a stamp, as programs before layout 7 write it, is worth no claim', async () => {
  const parts = await opened();
  const { engine, claims } = parts;
  const left = await leave(parts, 3);
  await current(claims);
  const noted = await field();
  await world().redis.hset(KEY, 'g', noted.subarray(0, TRACES.bytes));
  const before = await looks();
  expect((await engine.place(order())).replayed).toBe(false);
  expect(await looks()).toBe(before + 1);
  await expectKnown(engine, left);
  expect(claims.claim(MARKET, order().orderHash, 0)).toBeNull();
  left.push(...(await leave(parts, 1)));
  await current(claims);
  await expectKnown(engine, left);
});

test('an expiration by which orders left without a trace is looked at, also when the clock steps back', async () => {
  const parts = await opened();
  const { engine, claims, past } = parts;
  const [expired] = await leave(parts, 1, START_SECOND + 60);
  await leave(parts, 1);
  await current(claims);
  expect(claims.claim(MARKET, order().orderHash, START_SECOND + 60)).toBeNull();
  expect(claims.claim(MARKET, order().orderHash, START_SECOND + 61)).toEqual(await field());
  await world().clock(START_MS + 1_000);
  expect(await refusal(engine.place(order(START_SECOND + 60)))).toBe('ORDER_EXPIRED');
  await expectKnown(engine, [expired as PlaceRequest]);
  // Without the look at the expiration it would run twice.
  const { run, keys } = world();
  const careless: TraceClaims = { claim: (id, hash) => claims.claim(id, hash, 0) };
  const wrong = createEngine({
    ...{ run, keys, grantMicro: parseMicro('10000'), makersMax: 500, past, claims: careless },
  });
  expect((await wrong.place(expired as PlaceRequest)).replayed).toBe(false);
});

const MANY = 3_000;

test(`a filter that is filled while ${MANY} orders leave has every trace of them`, async () => {
  const parts = await opened();
  const { engine, stored, forgetting } = parts;
  const { run, keys } = world();
  // Each begins at another moment.
  const all: TraceClaims[] = [];
  const sent: PlaceRequest[] = [];
  for (let from = 0; from < MANY; from += 100) {
    const part = Array.from({ length: 100 }, () => order());
    await Promise.all(part.map((one) => engine.place(one)));
    await engine.cancelAll(alice, {});
    await world().clock(world().now() + KEEP_MS);
    const leaving = forgetting.move('the test', { orders: await stored(part) });
    if (from % 600 === 0) all.push(createTraceClaims({ run, keys, limits: EAGER }));
    await Promise.all([leaving, ...all.map((claims) => pressed(claims, 10))]);
    sent.push(...part);
  }
  expect(TRACES.get.buckets(await field())).toBe(MANY / 200);
  for (const claims of all) {
    await current(claims);
    expect(sent.filter(({ orderHash }) => claims.claim(MARKET, orderHash, 0))).toEqual([]);
    const fresh = Array.from({ length: 1_000 }, () => order());
    const claimed = fresh.filter(({ orderHash }) => claims.claim(MARKET, orderHash, 0));
    expect(claimed.length).toBeGreaterThan(900);
  }
}, 300_000);

/** So many orders ask, one behind the answer to the other. */
async function pressed(claims: TraceClaims, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    claims.claim(MARKET, order().orderHash, 0);
    await world().redis.ping();
  }
}

test('a process follows no more markets, traces and bytes than it may', async () => {
  const parts = await opened();
  await leave(parts, 3);
  const { run, keys } = world();
  const limited = (limits: Partial<typeof EAGER>): TraceClaims =>
    createTraceClaims({ run, keys, limits: { ...EAGER, ...limits } });
  for (const limits of [{ tracesMost: 2 }, { bytesMost: 100 }, { tracesPerOrder: 0.1 }, { marketsMost: 0 }]) {
    const claims = limited(limits);
    await pressed(claims, 5);
    expect(await isCurrent(claims)).toBe(false);
  }
  const [one, busy] = [limited({ marketsMost: 1 }), limited({ marketsMost: 1, idleMs: 1 })];
  for (const claims of [one, busy]) claims.claim('another0', order().orderHash, 0);
  await pressed(one, 5);
  expect(await isCurrent(one)).toBe(false);
  await current(busy);
});
