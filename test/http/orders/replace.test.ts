import type { Answer } from '../../support/client';
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
let alice: Trader;
let bob: Trader;

const BID: Limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 };
const HIGHER: Limit = { ...BID, pips: 4_500 };
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
});

const rest = async (trader: Trader, limit = BID): Promise<string> =>
  (await trader.submit(market, limit)).body.orderHash;

async function replace(
  trader: Trader,
  oldHash: string,
  limit: Limit,
  body: object = {},
  query = '',
): Promise<Answer> {
  const order = await trader.order(market, limit);
  return trader.post(`/markets/${market.id}/orders/${oldHash}/replace${query}`, { order, ...body });
}

const book = async () => (await exchange.client.get(`/markets/${market.id}/orderbook`)).body;
const status = async (hash: string) => (await exchange.client.get(`/orders/${hash}`)).body;

test('the answer to a replacement has exactly the documented body, and both orders have their final state', async () => {
  const old = await rest(alice);
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 6_000, lots: 400 });
  const { status: code, body } = await replace(alice, old, HIGHER);
  expect([code, body]).toEqual([
    200,
    {
      orderHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: 'OPEN',
      reason: null,
      price: '0.45',
      size: '10',
      filledSize: '0',
      remainingSize: '10',
      cancelledSize: '0',
      averagePrice: null,
      fillCount: 0,
      fills: [],
      sequence: 5,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      replaced: { orderHash: old, filledSize: '4', cancelledSize: '6' },
    },
  ]);
  expect(await status(old)).toMatchObject({
    status: 'CANCELLED',
    reason: 'REPLACED',
    filledSize: '4',
    updatedAt: body.createdAt,
  });
  expect((await book()).bids).toEqual([{ price: '0.45', size: '10', orders: 1 }]);
  expect((await alice.get('/me/balances')).body.collateral.reserved).toBe('4.5');
});

test('the reserve of the old order pays for the new one, to the micro-unit', async () => {
  await alice.post(`/markets/${market.id}/split`, { size: '100' });
  const sell: Limit = { side: 'SELL', outcome: 0, pips: 6_000, lots: 10_000 };
  const old = await rest(alice, sell);
  const more = await replace(alice, old, { ...sell, lots: 10_001 });
  expect([more.status, more.body]).toMatchObject([
    422,
    { code: 'INSUFFICIENT_BALANCE', required: '100.01', available: '100', asset: 'YES' },
  ]);
  expect(await status(old)).toMatchObject({ status: 'OPEN' });
  expect((await replace(alice, old, { ...sell, pips: 5_900 })).body.status).toBe('OPEN');
});

test('the new order never meets the old one, whatever its type and its self-trade prevention', async () => {
  await alice.post(`/markets/${market.id}/split`, { size: '100' });
  const sell: Limit = { side: 'SELL', outcome: 0, pips: 4_000, lots: 1_000 };
  for (const body of [{ orderType: 'POST_ONLY' }, { selfTradePrevention: 'CANCEL_BOTH' }, {}]) {
    const old = await rest(alice);
    const { body: placed } = await replace(alice, old, sell, body);
    expect(placed).toMatchObject({ status: 'OPEN', fills: [], replaced: { cancelledSize: '10' } });
    await alice.post(`/orders/${placed.orderHash}/cancel`);
  }
});

test('a replacement that trades returns its fills', async () => {
  const old = await rest(alice);
  const makerOrderHash = await rest(bob, { side: 'BUY', outcome: 1, pips: 5_500, lots: 600 });
  const { body } = await replace(alice, old, HIGHER);
  expect(body).toMatchObject({
    status: 'PARTIALLY_FILLED',
    filledSize: '6',
    fills: [{ makerOrderHash, price: '0.45', size: '6', matchType: 'MINT' }],
  });
});

test('a refused order leaves the old one as it was', async () => {
  const old = await rest(alice);
  await rest(bob, { side: 'BUY', outcome: 1, pips: 5_500, lots: 600 });
  const before = [await status(old), await book(), (await alice.get('/me/balances')).body];
  const refusals: [object, number, string][] = [
    [{ orderType: 'POST_ONLY' }, 422, 'POST_ONLY_WOULD_CROSS'],
    [{ orderType: 'FOK' }, 422, 'FOK_NOT_FILLED'],
    [{ deadline: 1 }, 422, 'DEADLINE_EXCEEDED'],
  ];
  for (const [body, code, name] of refusals) {
    const refused = await replace(alice, old, HIGHER, body);
    expect([refused.status, refused.body.code]).toEqual([code, name]);
  }
  expect((await replace(alice, old, { ...BID, pips: 4_001 })).body.code).toBe('INVALID_TICK');
  for (const mode of ['CANCEL_ONLY', 'HALTED']) {
    await exchange.client.call('PUT', '/admin/mode', { token: ADMIN_TOKEN, body: { mode } });
    const refused = await replace(alice, old, HIGHER);
    await exchange.client.call('PUT', '/admin/mode', { token: ADMIN_TOKEN, body: { mode: 'NORMAL' } });
    expect([refused.status, refused.body.code]).toEqual([503, mode]);
  }
  const pause = (verb: string) =>
    exchange.client.post(`/admin/markets/${market.id}/${verb}`, { token: ADMIN_TOKEN });
  await pause('pause');
  expect((await replace(alice, old, HIGHER)).body.code).toBe('MARKET_NOT_OPEN');
  await pause('resume');
  const after = [await status(old), { ...(await book()) }, (await alice.get('/me/balances')).body];
  const { sequence, timestamp, checksum } = after[1];
  expect(after).toEqual([before[0], { ...before[1], sequence, timestamp, checksum }, before[2]]);
});

test('a final order cannot be replaced, and the refusal contains it', async () => {
  const old = await rest(alice);
  await alice.post(`/orders/${old}/cancel`);
  const { status: code, body } = await replace(alice, old, HIGHER);
  expect([code, body.code]).toEqual([409, 'ORDER_NOT_CANCELLABLE']);
  const { order: _, ...told } = (await alice.get(`/orders/${old}`)).body;
  expect(body.order).toEqual(told);
  expect(body.order.reason).toBe('USER');
  expect((await book()).bids).toEqual([]);
});

test("an unknown order, another wallet's and another market's are not found", async () => {
  const old = await rest(bob);
  const elsewhere = await openMarket(exchange.client, ADMIN_TOKEN);
  const mine = (await alice.submit(elsewhere, BID)).body.orderHash;
  for (const hash of [UNKNOWN, old, mine]) {
    const { status: code, body } = await replace(alice, hash, HIGHER);
    expect([code, body.code]).toEqual([404, 'ORDER_NOT_FOUND']);
  }
  expect((await replace(alice, '0x12', HIGHER)).body.code).toBe('INVALID_REQUEST');
  expect((await book()).bids).toEqual([{ price: '0.4', size: '10', orders: 1 }]);
});

test('a replacement needs the bearer of the maker', async () => {
  const old = await rest(alice);
  const path = `/markets/${market.id}/orders/${old}/replace`;
  const order = await alice.order(market, HIGHER);
  const anybody = await exchange.client.post(path, { body: { order } });
  expect([anybody.status, anybody.body.code]).toEqual([401, 'UNAUTHORIZED']);
  const other = await bob.post(path, { order });
  expect([other.status, other.body.code]).toEqual([403, 'MAKER_MISMATCH']);
  expect(await status(old)).toMatchObject({ status: 'OPEN' });
});

test('a replacement sent 20 times at once to two replicas is executed once, and every answer is the same', async () => {
  const old = await rest(alice);
  const order = await alice.order(market, HIGHER);
  const token = await alice.token();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (exchange.replicas[i % 2] ?? exchange.replicas[0]).client.post(
        `/markets/${market.id}/orders/${old}/replace`,
        { body: { order }, token },
      ),
    ),
  );
  expect(new Set(answers.map(({ status: code }) => code))).toEqual(new Set([200]));
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(19);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.body).toMatchObject({ sequence: 4, replaced: { orderHash: old, cancelledSize: '10' } });
  expect((await book()).sequence).toBe(4);
});

test('a replay whose order was booked by itself replaces nothing', async () => {
  const old = await rest(alice);
  const order = await alice.order(market, HIGHER);
  await exchange.client.post(`/markets/${market.id}/orders`, { body: { order } });
  const {
    status: code,
    headers,
    body,
  } = await alice.post(`/markets/${market.id}/orders/${old}/replace`, {
    order,
  });
  expect([code, headers.get('idempotent-replayed'), body.replaced]).toEqual([200, 'true', null]);
  expect(await status(old)).toMatchObject({ status: 'OPEN' });
});

test('dryRun shows the effect on both orders and changes nothing', async () => {
  const old = await rest(alice);
  const { status: code, body } = await replace(alice, old, HIGHER, {}, '?dryRun=true');
  expect([code, body.status, body.replaced]).toEqual([
    200,
    'OPEN',
    { orderHash: old, filledSize: '0', cancelledSize: '10' },
  ]);
  expect(await status(old)).toMatchObject({ status: 'OPEN' });
  expect(await status(body.orderHash)).toMatchObject({ code: 'ORDER_NOT_FOUND' });
  expect((await book()).sequence).toBe(2);
});
