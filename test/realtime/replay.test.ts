import { place } from '../support/engine-order';
import { type Listener, listen } from '../support/listener';
import { sizeOf } from '../support/sample';
import type { OpenMarket } from '../support/trader';
import { until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { bookOf, createBookClient, type Update } from './book-client';

/** The log of updates holds this many; the short form misses fewer, and shortens the log itself. */
const MISSED = sizeOf('MISSED_UPDATES', 150, 1_000);
const LOG_KEPT = 1_000;

let exchange: WebReplicas;
let replica: Replica;
let market: OpenMarket;
const open: { close(): void }[] = [];

beforeAll(async () => {
  // Every command is an update, which makes the window as short as possible.
  exchange = await startWebReplicas({ replicas: 0, durable: true, env: { BROADCAST_INTERVAL_MS: '0' } });
  replica = await exchange.replica();
});
beforeEach(async () => {
  market = await exchange.market(replica);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

async function listener(): Promise<Listener> {
  const one = await listen(replica.url);
  open.push(one);
  return one;
}

async function orders(count: number): Promise<void> {
  for (let i = 0; i < count; i += 50) {
    const some = Array.from({ length: Math.min(50, count - i) }, (_, n) =>
      place(exchange, market, { pips: 100 + 10 * ((i + n) % 900) }),
    );
    await Promise.all(some);
  }
}

async function broadcast(sequence: number): Promise<void> {
  const client = createBookClient(market.conditionId);
  open.push(client);
  await client.connect(replica.url);
  const tail = async () =>
    (
      await exchange.store.redis.xrevrange(exchange.store.keys.updates(market.id), '+', '-', 'COUNT', 1)
    )[0]?.[0];
  await until('the update is in the log', async () => (await tail()) === `${sequence}-0`);
}

test(`a client that missed ${MISSED} updates is sent them instead of a snapshot`, async () => {
  const client = createBookClient(market.conditionId);
  open.push(client);
  await client.connect(replica.url);
  await orders(30);
  await until('the first updates', () => client.sequence() === 31);
  client.socket()?.disconnect();
  await orders(MISSED);
  await broadcast(31 + MISSED);
  const snapshots = client.counts.snapshots;
  const ack = await client.connect(replica.url);
  expect(ack).toMatchObject({
    ok: true,
    subscribed: [{ conditionId: market.conditionId, sequence: 31 + MISSED }],
  });
  await until('all updates', () => client.sequence() === 31 + MISSED);
  expect(client.counts.snapshots).toBe(snapshots);
  expect(client.book()).toEqual(bookOf((await replica.client.get(`/markets/${market.id}/orderbook`)).body));
  await orders(5);
  await until('what comes next', () => client.sequence() === 36 + MISSED);
  expect(client.faults).toEqual([]);
});

test('a replay repeats the sent updates exactly', async () => {
  const one = await listener();
  await one.ask('subscribe', market.conditionId);
  await orders(20);
  const live = (): Update[] => one.all('orderbook:update').filter(({ sequence }) => sequence > 11);
  await until('the last update', () => live().length === 10);
  const two = await listener();
  await two.ask('subscribe', { conditionIds: [market.conditionId], lastSequence: 11 });
  await two.heard('orderbook:update', 10);
  expect(two.all('orderbook:update')).toEqual(live());
  expect(two.all('orderbook:snapshot')).toEqual([]);
});

test.each([
  ['is at the end', (last: number) => last, 0],
  ['is ahead of everything', (last: number) => last + 1_000, 1],
  ['is null', () => null, 1],
])('a client that %s', async (_what, lastOf, snapshots) => {
  await orders(10);
  await broadcast(11);
  const one = await listener();
  const ack = await one.ask('subscribe', { conditionId: market.conditionId, lastSequence: lastOf(11) });
  expect(ack.subscribed).toEqual([{ conditionId: market.conditionId, sequence: 11 }]);
  await orders(1);
  expect(await one.heard('orderbook:update')).toMatchObject({ previousSequence: 11, sequence: 12 });
  expect(one.all('orderbook:snapshot')).toHaveLength(snapshots);
});

test('a book of another epoch is never continued, whatever its number', async () => {
  await orders(10);
  await broadcast(11);
  const { epoch } = (await replica.client.get('/readyz')).body;
  const [same, other] = [await listener(), await listener()];
  const since = { conditionId: market.conditionId, lastSequence: 10 };
  expect(await same.ask('subscribe', { ...since, epoch })).toMatchObject({ ok: true, epoch });
  expect(await same.heard('orderbook:update')).toMatchObject({ sequence: 11 });
  expect(same.all('orderbook:snapshot')).toEqual([]);
  const before = epoch.replace(/./, epoch.startsWith('0') ? '1' : '0');
  expect(await other.ask('subscribe', { ...since, epoch: before })).toMatchObject({ ok: true, epoch });
  expect(await other.heard('orderbook:snapshot')).toMatchObject({ sequence: 11 });
  expect(other.all('orderbook:update')).toEqual([]);
});

test('a client that missed more is sent a snapshot', async () => {
  const placed = MISSED + 600;
  await orders(placed);
  await broadcast(placed + 1);
  const { redis, keys } = exchange.store;
  if (MISSED < LOG_KEPT) await redis.xtrim(keys.updates(market.id), 'MAXLEN', 100);
  const one = await listener();
  await one.ask('subscribe', { conditionId: market.conditionId, lastSequence: 2 });
  expect(await one.heard('orderbook:snapshot')).toMatchObject({ sequence: placed + 1 });
  expect(one.all('orderbook:update')).toEqual([]);
});
