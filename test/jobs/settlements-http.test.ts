import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { patiently } from '../support/client';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, type Domain, domainOf, type Market, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

let exchange: WebReplicas;
let worker: Awaited<ReturnType<typeof startWorker>>;
let market: Market & { conditionId: string };
let alice: Trader;
let bob: Trader;
const asAdmin = { token: ADMIN_TOKEN };
const basic = (user: string, password: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
});
/** `GET /admin/settlements`, as an operator reads it. */
const MEMBERS =
  'id marketId conditionId sequence status takerOrderHash makerOrderHashes takerOrder makerOrders takerFillAmount makerFillAmounts matchTypes refundAmount tradeIds attempts transactionHash createdAt updatedAt';

beforeAll(async () => {
  exchange = await startWebReplicas();
  const config = loadConfig({
    NODE_ENV: 'test',
    REDIS_URL: exchange.redis.url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    LOG_LEVEL: 'silent',
  });
  worker = await startWorker(config, createLogger(config, 'worker', { write: () => undefined }));
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  const domain: Domain = await domainOf(exchange.client);
  alice = createTrader(exchange.client, domain);
  bob = createTrader(exchange.client, domain);
});
afterAll(async () => {
  await worker?.stop(2_000);
  await exchange?.stop();
});

const settlements = async (query = '') => exchange.client.get(`/admin/settlements${query}`, asAdmin);

async function settled(count: number) {
  const found = async () => (await settlements(`?marketId=${market.id}&limit=200`)).body.data;
  await until(`${count} settlements`, async () => (await found()).length >= count);
  return found();
}

test('a match is settled, and the operator sees the call with the signed orders', async () => {
  const path = `/markets/${market.id}/orders`;
  const rests = await bob.order(market, { side: 'BUY', outcome: 1, pips: 4_500, lots: 10_000 });
  const order = await alice.order(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 10_000 });
  // A process that has just started may be late: an order that it refuses for that was not booked.
  const makers = await patiently(() => exchange.client.post(path, { body: { order: rests } }));
  const taker = await patiently(() => exchange.client.post(path, { body: { order } }));
  const [record] = await settled(1);
  expect(Object.keys(record).sort()).toEqual(MEMBERS.split(' ').sort());
  expect(record).toMatchObject({
    marketId: market.id,
    conditionId: market.conditionId,
    sequence: taker.body.sequence,
    status: 'CONFIRMED',
    takerOrderHash: taker.body.orderHash,
    makerOrderHashes: [makers.body.orderHash],
    takerOrder: order,
    takerFillAmount: '60000000000000000000',
    makerFillAmounts: ['45000000000000000000'],
    matchTypes: ['MINT'],
    refundAmount: '5000000000000000000',
    tradeIds: [taker.body.fills[0].tradeId],
    attempts: 1,
    transactionHash: null,
  });
  expect(record.makerOrders[0]).toMatchObject({ maker: bob.address, makerAmount: '45000000000000000000' });
  const trade = (await exchange.client.get(`/markets/${market.id}/trades`)).body.data[0];
  expect(trade).toMatchObject({ settlementStatus: 'CONFIRMED', transactionHash: null });
  const { body } = await exchange.client.get(`/orders/${makers.body.orderHash}`);
  expect(body.fills).toMatchObject([{ settlementStatus: 'CONFIRMED', transactionHash: null }]);
  const trading = await exchange.client.get(`/markets/${market.id}/trading`);
  expect(trading.body.recentTrades).toMatchObject([{ settlementStatus: 'CONFIRMED' }]);
});

test('the list has filters and a cursor, and refuses invalid ones', async () => {
  for (let i = 0; i < 4; i++) {
    await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_500, lots: 100 });
    await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
  }
  const all = await settled(5);
  const seen: unknown[] = [];
  let cursor = '';
  do {
    const { body } = await settlements(`?limit=2${cursor}`);
    seen.push(...body.data);
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  expect(seen).toEqual(all);
  const times = all.map(({ createdAt }: { createdAt: string }) => createdAt);
  expect(times).toEqual([...times].sort().reverse());
  expect((await settlements('?status=FAILED')).body).toEqual({ data: [], nextCursor: null });
  expect((await settlements(`?status=CONFIRMED&marketId=${market.conditionId}`)).body.data).toEqual(all);
  expect((await settlements('?status=DONE')).body.code).toBe('INVALID_REQUEST');
  expect((await settlements('?limit=0')).body.code).toBe('INVALID_LIMIT');
  expect((await settlements('?cursor=x')).body.code).toBe('INVALID_CURSOR');
  expect((await settlements('?marketId=nowhere')).body.code).toBe('MARKET_NOT_FOUND');
  expect((await exchange.client.get('/admin/settlements')).body.code).toBe('UNAUTHORIZED');
});

test('only the operator sees Bull Board', async () => {
  const { get } = exchange.client;
  const without = await get('/admin/queues');
  expect([without.status, without.body.code]).toEqual([401, 'UNAUTHORIZED']);
  expect(without.headers.get('www-authenticate')).toMatch(/^Basic /);
  expect((await get('/admin/queues', basic('admin', 'wrong'))).status).toBe(401);
  expect((await get('/admin/queues', basic('root', ADMIN_TOKEN))).status).toBe(401);
  expect((await get('/admin/queues', { token: `${ADMIN_TOKEN}x` })).status).toBe(401);
  for (const sent of [basic('admin', ADMIN_TOKEN), asAdmin]) {
    const page = await get('/admin/queues', sent);
    expect([page.status, page.text.includes('<!DOCTYPE html>')]).toEqual([200, true]);
    // It names a font of another site.
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'self'; style-src 'self' 'unsafe-inline';/,
    );
    const { status, body } = await get('/admin/queues/api/queues', sent);
    expect(status).toBe(200);
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['settlement', 'reconcile-settlements', 'expire-orders']),
    );
  }
  const script = /src="([^"]+\.js)"/.exec((await get('/admin/queues', asAdmin)).text)?.[1];
  expect((await get(`/admin/queues/${script}`, asAdmin)).status).toBe(200);
});

const pause = (headers: Record<string, string> = {}) =>
  exchange.client.call('PUT', '/admin/queues/api/queues/settlement/pause', {
    headers: { ...basic('admin', ADMIN_TOKEN).headers, ...headers },
  });

test.each<Record<string, string>>([
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.test' },
  { origin: 'null' },
  { origin: 'https://exchange.test.evil.test' },
  { origin: 'http://exchange.test', 'sec-fetch-site': 'same-site' },
])('a page elsewhere changes no queue: %j', async (headers) => {
  const answer = await pause(headers);
  expect([answer.status, answer.body.code]).toEqual([403, 'FORBIDDEN']);
});

test('actions at the board appear in the operators’ log', async () => {
  expect((await pause({ origin: 'https://exchange.test', 'sec-fetch-site': 'same-origin' })).status).toBe(
    200,
  );
  await exchange.client.call('PUT', '/admin/queues/api/queues/settlement/resume', asAdmin);
  const done = async () =>
    (await exchange.client.get('/admin/log', asAdmin)).body.data.map(
      ({ action, path, status }: Record<string, unknown>) => [action, path, status],
    );
  const path = '/admin/queues/api/queues/settlement';
  const expected = [
    ['PUT /admin/queues', `${path}/resume`, 200],
    ['PUT /admin/queues', `${path}/pause`, 200],
  ];
  await until('both are complete', async () => isDeepStrictEqual((await done()).slice(0, 2), expected));
});

test('the board knows every queue of the worker', async () => {
  const { body } = await exchange.client.get('/admin/queues/api/queues', asAdmin);
  const shown = body.queues.map(({ name }: { name: string }) => name).sort();
  const link = new Redis(exchange.redis.url);
  const stored = (await link.keys('{jobs}:*:meta')).map((key) => key.split(':')[1]).sort();
  link.disconnect();
  expect(shown).toEqual(stored);
});
