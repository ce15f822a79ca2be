import { place } from '../support/engine-order';
import { type Listener, listen } from '../support/listener';
import { createRandom } from '../support/random';
import { ADMIN_TOKEN } from '../support/settings';
import type { OpenMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { bookOf, createBookClient } from './book-client';

const INTERVAL_MS = 25;
let exchange: WebReplicas;
let replicas: [Replica, Replica];
let market: OpenMarket;
const open: { close(): void }[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
  replicas = [await exchange.replica(), await exchange.replica()];
});
beforeEach(async () => {
  market = await exchange.market(replicas[0]);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

async function listener(at = 0): Promise<Listener> {
  const one = await listen((replicas[at] ?? replicas[0]).url);
  open.push(one);
  return one;
}
const rest = async (path: string) => (await replicas[0].client.get(`/markets/${market.id}${path}`)).body;

test('subscribing answers with the sequence and sends the body of the REST book, then updates, on every replica', async () => {
  await place(exchange, market, { pips: 6_100, lots: 12_000 });
  const [here, there] = [await listener(0), await listener(1)];
  for (const one of [here, there]) {
    expect(await one.ask('subscribe', { conditionId: market.conditionId })).toEqual({
      ok: true,
      subscribed: [{ conditionId: market.conditionId, sequence: 2 }],
      epoch: (await replicas[0].client.get('/readyz')).body.epoch,
    });
    const { timestamp, ...book } = await one.heard('orderbook:snapshot');
    const shown = await rest('/orderbook');
    expect({ ...book, timestamp: shown.timestamp }).toEqual(shown);
    expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000);
  }
  await place(exchange, market, { pips: 6_300, lots: 150 });
  // Updates that the snapshot contains may still arrive after it; a client drops them, because its book already has them.
  const third = async (one: typeof here) => {
    const told = () => one.all('orderbook:update').find(({ sequence }) => sequence === 3);
    await until('the update is told', () => told() !== undefined);
    return told();
  };
  const update = await third(here);
  expect(update).toEqual({
    type: 'orderbook:update',
    marketId: market.id,
    conditionId: market.conditionId,
    sequence: 3,
    previousSequence: 2,
    timestamp: expect.any(Number),
    reason: 'ORDER',
    changes: { bids: [['0.63', '1.5']], asks: [] },
    bestBid: '0.63',
    bestAsk: null,
    checksum: (await rest('/orderbook')).checksum,
  });
  expect(await third(there)).toEqual(update);
});

test('a trade comes as an update, as a trade record and in the ticker', async () => {
  const one = await listener();
  await one.ask('subscribe', market.conditionId);
  await place(exchange, market, { side: 0, outcome: 0, pips: 4_000, lots: 500 });
  await place(exchange, market, {
    side: 0,
    outcome: 1,
    pips: 6_000,
    lots: 700,
    maker: `0x${'cd'.repeat(20)}`,
  });
  await until('the trade is told', () => one.all('trade:new').length === 1);
  const last = one.all('orderbook:update').at(-1);
  expect(last).toMatchObject({ sequence: 3, reason: 'TRADE', bestBid: null, bestAsk: '0.4' });
  expect(last.changes.asks).toEqual([['0.4', '2']]);
  expect((await rest('/trades')).data).toEqual(one.all('trade:new'));
  await until('the ticker is told', () => one.all('ticker:update').at(-1)?.sequence === 3);
  const shown = await rest('/ticker');
  expect(one.all('ticker:update').at(-1)).toEqual({ ...shown, timestamp: expect.any(Number) });
});

test('the state of the market is sent, and every sequence has its update', async () => {
  const one = await listener(1);
  await one.ask('subscribe', market.conditionId);
  const path = `/admin/markets/${market.id}/pause`;
  const token = ADMIN_TOKEN;
  expect((await replicas[0].client.post(path, { token })).status).toBe(200);
  expect(await one.heard('market:update')).toEqual(await rest(''));
  expect(one.all('market:update')[0].status).toBe('PAUSED');
  const update = one.all('orderbook:update').find(({ sequence }) => sequence === 2);
  expect(update).toMatchObject({ sequence: 2, previousSequence: 1, reason: 'MARKET' });
  expect(update.changes).toEqual({ bids: [], asks: [] });
});

test('a heartbeat contains the last broadcast sequence', async () => {
  const client = createBookClient(market.conditionId);
  open.push(client);
  await client.connect(replicas[1].url);
  await place(exchange, market);
  await until('a heartbeat behind the update', () =>
    client.heartbeats.some(({ sequence }) => sequence === 2),
  );
  expect(client.faults).toEqual([]);
});

test('snapshot and updates connect without a gap, whenever a client joins', async () => {
  const random = createRandom(11);
  let placing = true;
  const orders = (async () => {
    while (placing) {
      await Promise.all(
        Array.from({ length: 5 }, () =>
          place(exchange, market, {
            outcome: random.pick([0, 1]),
            pips: random.int(30, 70) * 100,
            lots: random.int(1, 300),
          }),
        ),
      );
      await sleep(random.int(0, 8));
    }
  })();
  const clients = await Promise.all(
    Array.from({ length: 40 }, async () => {
      await sleep(random.int(0, 1_500));
      const client = createBookClient(market.conditionId);
      open.push(client);
      await client.connect(random.pick(replicas).url);
      return client;
    }),
  );
  await sleep(300);
  placing = false;
  await orders;
  const book = bookOf(await rest('/orderbook'));
  await until('all are there', () => clients.every((client) => client.sequence() === book.sequence));
  expect(clients.map((client) => client.book())).toEqual(clients.map(() => book));
  expect(clients.flatMap(({ faults }) => faults)).toEqual([]);
  // Every replica sent the same updates.
  const told = new Map<number, unknown>();
  for (const update of clients.flatMap(({ updates }) => updates)) {
    expect(told.get(update.sequence) ?? update).toEqual(update);
    told.set(update.sequence, update);
  }
});

test('subscribing again sends the same snapshot once, and leaving ends it', async () => {
  const one = await listener();
  await one.ask('subscribe', market.conditionId);
  await one.ask('subscribe', market.conditionId);
  expect(one.all('orderbook:snapshot')).toHaveLength(1);
  // The update of the market's creation may come after the snapshot that contains it.
  const orders = () => one.all('orderbook:update').filter(({ reason }) => reason === 'ORDER');
  await place(exchange, market);
  await until('the order is told', () => orders().length > 0);
  await sleep(4 * INTERVAL_MS);
  expect(orders()).toHaveLength(1);
  expect(await one.ask('unsubscribe', { conditionIds: [market.conditionId] })).toEqual({
    ok: true,
    unsubscribed: [{ conditionId: market.conditionId }],
  });
  await place(exchange, market);
  await sleep(8 * INTERVAL_MS);
  expect(orders()).toHaveLength(1);
});

test('updates of a market are at least an interval apart, and contain all changes', async () => {
  const client = createBookClient(market.conditionId);
  open.push(client);
  await client.connect(replicas[1].url);
  const began = Date.now();
  for (let i = 0; i < 400; i++) await place(exchange, market, { pips: 1_000 + 100 * (i % 40) });
  await until('the last one', () => client.sequence() === 401);
  const lasted = Date.now() - began;
  // Not one for each of 400 orders: one for each interval, and one at either end.
  expect(client.counts.applied).toBeLessThanOrEqual(lasted / INTERVAL_MS + 2);
  expect(client.faults).toEqual([]);
});

test('an interval of 0 sends an update for every command', async () => {
  const other = await startWebReplicas({ replicas: 0, durable: true, env: { BROADCAST_INTERVAL_MS: '0' } });
  try {
    const replica = await other.replica();
    const own = await other.market(replica);
    const client = createBookClient(own.conditionId);
    open.push(client);
    await client.connect(replica.url);
    // A broadcaster that meets a market late joins what its book already has.
    await place(other, own, { pips: 90 });
    await until('the first one', () => client.sequence() === 2);
    await Promise.all(Array.from({ length: 299 }, (_, i) => place(other, own, { pips: 100 + 10 * i })));
    await until('the last one', () => client.sequence() === 301);
    expect(client.updates.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 300 }, (_, i) => i + 2),
    );
    expect(client.faults).toEqual([]);
    client.close();
  } finally {
    await other.stop();
  }
});
