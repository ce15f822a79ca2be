import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let market: Market;
let other: Market;
let alice: Trader;
let bob: Trader;

const BID: Limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 };
const UNKNOWN = `0x${'12'.repeat(32)}`;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
});
afterAll(() => exchange.stop());
beforeEach(async () => {
  const domain = await domainOf(exchange.client);
  alice = createTrader(exchange.client, domain);
  bob = createTrader(exchange.client, domain);
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  other = await openMarket(exchange.client, ADMIN_TOKEN);
});

const rest = async (trader: Trader, limit = BID, at = market): Promise<string> =>
  (await trader.submit(at, limit)).body.orderHash;
const cancel = (trader: Trader, orderHash: string, at = market) =>
  trader.post(`/markets/${at.id}/orders/cancel`, { orderHash });

test('a cancel can be repeated', async () => {
  const orderHash = await rest(alice);
  const first = await cancel(alice, orderHash.toUpperCase().replace('0X', '0x'));
  expect(first.body).toEqual({
    orderHash,
    status: 'CANCELLED',
    cancelled: true,
    filledSize: '0',
    remainingSize: '0',
    cancelledSize: '10',
    sequence: 3,
    message: 'Order cancelled',
  });
  const again = await cancel(alice, orderHash);
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({
    status: 'CANCELLED',
    cancelled: false,
    cancelledSize: '10',
    sequence: 3,
  });
});

test("an unknown order, one in another market and another wallet's are not found", async () => {
  const orderHash = await rest(alice);
  for (const answer of [
    await cancel(alice, UNKNOWN),
    await cancel(alice, orderHash, other),
    await cancel(bob, orderHash),
    await bob.post(`/orders/${orderHash}/cancel`),
    await alice.post(`/orders/${UNKNOWN}/cancel`),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([404, 'ORDER_NOT_FOUND']);
  }
  expect((await cancel(alice, orderHash, { ...market, id: 'none' })).body.code).toBe('MARKET_NOT_FOUND');
  expect((await alice.post('/orders/0x12/cancel')).body.code).toBe('INVALID_REQUEST');
  expect((await exchange.client.get(`/orders/${orderHash}`)).body.status).toBe('OPEN');
});

test('a filled order cannot be cancelled, and the refusal contains it', async () => {
  const orderHash = await rest(alice);
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 6_000, lots: 1_000 });
  for (const answer of [await cancel(alice, orderHash), await alice.post(`/orders/${orderHash}/cancel`)]) {
    expect([answer.status, answer.body.code]).toEqual([409, 'ORDER_NOT_CANCELLABLE']);
    expect(answer.body.order).toEqual((await exchange.client.get(`/orders/${orderHash}`)).body);
    expect(answer.body.order.status).toBe('FILLED');
  }
});

test('a cancel by hash works in any market, with and without an empty body', async () => {
  const [first, second] = [await rest(alice), await rest(alice, BID, other)];
  expect((await alice.post(`/orders/${first}/cancel`)).body).toMatchObject({
    orderHash: first,
    cancelled: true,
  });
  expect((await alice.post(`/orders/${second}/cancel`, {})).body).toMatchObject({
    orderHash: second,
    cancelled: true,
  });
  expect((await alice.post(`/orders/${second}/cancel`, { why: 1 })).body.code).toBe('INVALID_REQUEST');
});

test('a list of cancels is answered order by order', async () => {
  const mine = [await rest(alice), await rest(alice, BID, other)];
  const gone = await rest(alice);
  await cancel(alice, gone);
  const theirs = await rest(bob);
  const { status, body } = await alice.post('/orders/cancel', {
    orderHashes: [...mine, gone, theirs, UNKNOWN, mine[0]],
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    cancelled: mine,
    notCancelled: {
      [gone]: 'ORDER_NOT_CANCELLABLE',
      [theirs]: 'ORDER_NOT_FOUND',
      [UNKNOWN]: 'ORDER_NOT_FOUND',
    },
  });
  expect((await alice.post('/orders/cancel', { orderHashes: Array(101).fill(UNKNOWN) })).body.code).toBe(
    'INVALID_REQUEST',
  );
});

test('cancel-all works for a market, filtered or whole, and for all markets', async () => {
  await alice.post(`/markets/${market.id}/split`, { size: '100' });
  const bidYes = await rest(alice);
  const bidNo = await rest(alice, { ...BID, outcome: 1 });
  const askNo = await rest(alice, { side: 'SELL', outcome: 1, pips: 9_000, lots: 100 });
  const elsewhere = await rest(alice, BID, other);
  const theirs = await rest(bob, { ...BID, pips: 3_000 });
  const path = `/markets/${market.id}/orders/cancel-all`;
  const { body: sells } = await alice.post(path, { side: 'SELL' });
  expect(sells).toEqual({
    cancelled: [askNo],
    count: 1,
    sequence: expect.any(Number),
    message: 'Orders cancelled',
  });
  expect((await alice.post(path, { outcomeIndex: 1 })).body.cancelled).toEqual([bidNo]);
  const { body: rests } = await alice.post(path);
  expect(rests).toMatchObject({ cancelled: [bidYes], count: 1, sequence: sells.sequence + 2 });
  expect((await alice.post(path)).body).toMatchObject({ cancelled: [], count: 0, sequence: rests.sequence });
  expect((await alice.post('/me/orders/cancel-all')).body).toEqual({
    cancelled: [elsewhere],
    count: 1,
    sequences: { [other.id]: 3 },
    message: 'Orders cancelled',
  });
  expect((await exchange.client.get(`/orders/${theirs}`)).body.status).toBe('OPEN');
  expect((await alice.get('/me/orders?status=open')).body.data).toEqual([]);
  expect((await alice.get('/me/balances')).body.collateral.reserved).toBe('0');
});

test('every cancel needs a bearer', async () => {
  const paths = [
    `/markets/${market.id}/orders/cancel`,
    `/markets/${market.id}/orders/cancel-all`,
    `/orders/${UNKNOWN}/cancel`,
    '/orders/cancel',
    '/me/orders/cancel-all',
  ];
  for (const path of paths) {
    const { status, body, headers } = await exchange.client.post(path, { raw: '{' });
    expect([status, body.code, headers.get('www-authenticate')]).toEqual([
      401,
      'UNAUTHORIZED',
      'Bearer realm="exchange"',
    ]);
  }
});
