import { EXTENSIONS } from '../../src/app/extensions';
import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { patiently } from '../support/client';
import { type Listener, listen } from '../support/listener';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { forgive } from '../support/watch';
import { limit } from '../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The core alone: EXTENSIONS=none is an exchange, from a sign-in to a settled match. */
const NONE = { EXTENSIONS: 'none' };

let exchange: WebReplicas;
let worker: Awaited<ReturnType<typeof startWorker>>;
let market: OpenMarket;
let alice: Trader;
let bob: Trader;
let socket: Listener;

beforeAll(async () => {
  exchange = await startWebReplicas({ env: NONE });
  const config = loadConfig({ ...ENVIRONMENT, ...NONE, REDIS_URL: exchange.redis.url, LOG_LEVEL: 'silent' });
  worker = await startWorker(config, createLogger(config, 'worker', { write: () => undefined }));
  const domain = await domainOf(exchange.client);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(async () => {
  socket?.close();
  await worker?.stop(2_000);
  await exchange?.stop();
});

test('a wallet signs in, and its private socket receives the market', async () => {
  expect((await alice.signIn()).status).toBe(200);
  socket = await listen(exchange.replicas[0].url, { token: await alice.token() });
  await socket.ask('subscribe', { conditionId: market.conditionId });
  const snapshot = await socket.heard('orderbook:snapshot');
  expect(snapshot.marketId).toBe(market.id);
});

test('orders rest, match and cancel; books, trades, balances and the socket show it', async () => {
  // A process that has just started may be late: an order that it refuses for that was not booked.
  const rests = await patiently(() => bob.submit(market, limit('BUY', 1, 4_000, 10_000)));
  expect([rests.status, rests.body.status]).toEqual([200, 'OPEN']);
  const takes = await patiently(() => alice.submit(market, limit('BUY', 0, 6_000, 4_000)));
  expect([takes.status, takes.body.status, takes.body.fills.length]).toEqual([200, 'FILLED', 1]);

  const book = (await exchange.client.get(`/markets/${market.id}/orderbook`)).body;
  expect(book.asks).toHaveLength(1);
  const trades = (await exchange.client.get(`/markets/${market.id}/trades`)).body.data;
  expect(trades.map(({ id }: { id: string }) => id)).toEqual([takes.body.fills[0].tradeId]);
  const order = (await bob.get(`/orders/${rests.body.orderHash}`)).body;
  expect(order.status).toBe('PARTIALLY_FILLED');
  const { tokens } = (await alice.get('/me/balances')).body;
  expect(tokens).toMatchObject([{ marketId: market.id, total: '40' }]);
  expect((await socket.heard('trade:new')).id).toBe(trades[0].id);
  expect((await socket.heard('order:update')).orderHash).toBe(takes.body.orderHash);

  const cancelled = await bob.post(`/orders/${rests.body.orderHash}/cancel`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
});

test('the match is settled', async () => {
  const read = async () => exchange.client.get('/admin/settlements', { token: ADMIN_TOKEN });
  await until('the match has a settlement record', async () => {
    const [record] = (await read()).body.data;
    return record?.status === 'CONFIRMED';
  });
});

test('the outbox waits for no reader of an extension', async () => {
  const { redis, keys } = exchange.store;
  expect((await redis.hkeys(keys.readers)).sort()).toEqual(['broadcast', 'settlement']);
});

test('a market resolves and pays its holders', async () => {
  const admin = { token: ADMIN_TOKEN };
  const path = `/admin/markets/${market.id}`;
  expect((await exchange.client.post(`${path}/close`, admin)).status).toBe(200);
  const resolved = await exchange.client.post(`${path}/resolve`, { ...admin, body: { outcomeIndex: 0 } });
  expect(resolved.status).toBe(200);
  await until('the holders are paid', async () => (await alice.get('/me/balances')).body.tokens.length === 0);
});

test('no path of an extension is served or documented', async () => {
  const documented = (await exchange.client.get('/openapi.json')).body;
  const served = new Set(exchange.replicas[0].web.endpoints.map(({ method, path }) => `${method} ${path}`));
  const operations = EXTENSIONS.flatMap(({ api }) => Object.keys(api?.operations ?? {}));
  expect(operations.length).toBeGreaterThan(4);
  for (const operation of operations) {
    const [method = '', path = ''] = operation.split(' ');
    expect([operation, served.has(operation)]).toEqual([operation, false]);
    expect([operation, documented.paths[path]?.[method.toLowerCase()]]).toEqual([operation, undefined]);
    if (documented.paths[path]) continue;
    const answer = await exchange.client.call(method, path.replace(/\{\w+\}/g, '1'), { token: ADMIN_TOKEN });
    expect([operation, answer.status]).toEqual([operation, 404]);
  }
  // The documents that answers are compared with have these operations.
  forgive();
  for (const page of ['/', '/operate', `/m/${market.id}`, '/sitemap.xml'])
    expect([page, (await exchange.client.get(page)).status]).toEqual([page, 404]);
});

test('a process with every extension on the same Redis has the positions of all that happened', async () => {
  const whole = await exchange.replica({ EXTENSIONS: 'all' });
  const { status, body } = await whole.client.get('/me/positions', { token: await alice.token() });
  expect([status, body.data]).toMatchObject([200, [{ marketId: market.id, size: '0', realizedPnl: '16' }]]);
  await whole.stop();
});

test('a name that no extension has is a bad configuration of every process', async () => {
  const env = { EXTENSIONS: 'site,nothing' };
  await expect(exchange.replica(env)).rejects.toThrow(/EXTENSIONS must be/);
  const config = loadConfig({ ...ENVIRONMENT, ...env, REDIS_URL: exchange.redis.url, LOG_LEVEL: 'silent' });
  await expect(
    startWorker(config, createLogger(config, 'worker', { write: () => undefined })),
  ).rejects.toThrow(/EXTENSIONS must be/);
});

test('an extension with a variable of its own is refused with the name of that variable', async () => {
  await expect(exchange.replica({ EXTENSIONS: 'archive' })).rejects.toThrow(/ARCHIVE_URL chooses archive/);
});
