import { startWorker } from '../../../src/app/worker';
import { loadConfig } from '../../../src/config/load';
import { micro } from '../../../src/exchange/units';
import { createLogger } from '../../../src/log';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { createScripts } from '../../../src/store/redis/scripts';
import { createEngine } from '../../../src/store/verbs/engine';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { READY_MS, until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let market: Market;
let domain: Domain;
const BID: Limit = { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 };

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange.stop());

const newTrader = (): Trader => createTrader(exchange.client, domain);
const statusOf = async (orderHash: string): Promise<string[]> => {
  const { body } = await exchange.replicas[1 as 0].client.get(`/orders/${orderHash}`);
  return [body.status, body.reason];
};

test('raising the nonce invalidates resting orders on every replica before it answers', async () => {
  const alice = newTrader();
  const hashes = [];
  for (let i = 0; i < 3; i++) hashes.push((await alice.submit(market, BID)).body.orderHash);
  const { status, body } = await alice.post('/me/nonce');
  expect([status, body]).toEqual([200, { nonce: '1' }]);
  for (const hash of hashes) expect(await statusOf(hash)).toEqual(['INVALIDATED', 'NONCE']);
  const { body: book } = await exchange.replicas[1 as 0].client.get(`/markets/${market.id}/orderbook`);
  expect(book.bids).toEqual([]);
  expect((await alice.get('/me/balances')).body.collateral.reserved).toBe('0');
  const refused = await alice.submit(market, BID);
  expect(refused.body).toMatchObject({ code: 'INVALID_NONCE_VALUE', current: '1' });
  const accepted = await alice.submit(market, BID, { more: { nonce: '1' } });
  expect(accepted.body.status).toBe('OPEN');
  expect((await alice.get('/me/orders?status=INVALIDATED')).body.data).toHaveLength(3);
  const { body: late } = await alice.post(`/orders/${hashes[0]}/cancel`);
  expect([late.code, late.order.status]).toEqual(['ORDER_NOT_CANCELLABLE', 'INVALIDATED']);
});

test('each request raises by one, however many come at once, and a repetition under the same key does not', async () => {
  const alice = newTrader();
  const token = await alice.token();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      (exchange.replicas[(i % 2) as 0] ?? exchange).client.post('/me/nonce', { token }),
    ),
  );
  expect(answers.map(({ body }) => Number(body.nonce)).sort((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8,
  ]);
  const key = { 'idempotency-key': 'raise-1' };
  const first = await exchange.client.post('/me/nonce', { token, headers: key });
  const again = await exchange.client.post('/me/nonce', { token, headers: key });
  expect([first.body.nonce, again.body.nonce]).toEqual(['9', '9']);
  expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
});

test('no order below the nonce fills after the answer, whatever crosses it meanwhile', async () => {
  const [alice, bob] = [newTrader(), newTrader()];
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  const [a, b] = exchange.replicas.map(({ client }) => client) as [
    typeof exchange.client,
    typeof exchange.client,
  ];
  for (let round = 0; round < 10; round++) {
    const more = { nonce: String(round) };
    const resting = [];
    for (let i = 0; i < 4; i++) resting.push((await alice.submit(market, BID, { more })).body.orderHash);
    const token = await alice.token();
    const sells = Promise.all(
      Array.from({ length: 3 }, () => bob.submit(market, { ...BID, side: 'SELL' }, { orderType: 'IOC' })),
    );
    await a.post('/me/nonce', { token });
    const told = await Promise.all(resting.map((hash) => b.get(`/orders/${hash}`)));
    for (const { body } of told) expect(['INVALIDATED', 'FILLED']).toContain(body.status);
    await sells;
    for (const [i, hash] of resting.entries()) {
      expect((await b.get(`/orders/${hash}`)).body.filledSize).toBe(told[i]?.body.filledSize);
    }
  }
});

test('a worker finishes the work of a process that died after raising a nonce', async () => {
  const alice = newTrader();
  const { orderHash } = (await alice.submit(market, { ...BID, pips: 1_000 })).body;
  const redis = connect({ urls: [exchange.redis.url] });
  await ready(redis, READY_MS);
  const engine = createEngine({ run: createScripts(redis), grantMicro: micro(0), makersMax: 500 });
  await engine.raiseNonce(alice.address, 'died');
  disconnect(redis);
  expect(await statusOf(orderHash)).toEqual(['OPEN', null]);
  const config = loadConfig({
    NODE_ENV: 'test',
    REDIS_URL: exchange.redis.url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    LOG_LEVEL: 'silent',
  });
  const worker = await startWorker(config, createLogger(config, 'worker', { write: () => undefined }));
  try {
    await until('the order is no longer open', async () => (await statusOf(orderHash))[0] !== 'OPEN');
    expect(await statusOf(orderHash)).toEqual(['INVALIDATED', 'NONCE']);
  } finally {
    await worker.stop(2_000);
  }
});

test('raising needs a bearer, accepts no body, and has no other method', async () => {
  const alice = newTrader();
  const refused = async (sent: object) => (await exchange.client.post('/me/nonce', sent)).body.code;
  const token = await alice.token();
  expect(await refused({})).toBe('UNAUTHORIZED');
  expect(await refused({ token: 'x' })).toBe('TOKEN_INVALID');
  expect(await refused({ token, body: { nonce: '7' } })).toBe('INVALID_REQUEST');
  expect(await refused({ token, raw: '[]' })).toBe('INVALID_REQUEST');
  expect(await refused({ token, headers: { 'idempotency-key': 'x'.repeat(65) } })).toBe('INVALID_REQUEST');
  expect((await exchange.client.call('DELETE', '/me/nonce', { token })).status).toBe(405);
  expect((await alice.post('/me/nonce')).body).toEqual({ nonce: '1' });
});
