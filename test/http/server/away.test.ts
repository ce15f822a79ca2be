import type { Answer } from '../../support/client';
import { openLink } from '../../support/redis';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let market: Market;
let alice: Trader;

const BID = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;
/** Every request is answered whatever Redis does: one without an answer by then hangs, however busy the machine is. */
const ANSWER_MS = 30_000;

beforeEach(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  alice = createTrader(exchange.client, await domainOf(exchange.client));
  await alice.signIn();
});
afterEach(() => exchange.stop());

async function checkAway(ask: () => Promise<Answer>): Promise<void> {
  const startedAt = Date.now();
  const { status, body, headers, text } = await ask();
  expect([status, body.code, body.retryable]).toEqual([503, 'UNAVAILABLE', true]);
  expect(headers.get('retry-after')).toBe('1');
  expect(text).not.toMatch(/ECONN|ioredis|\n\s+at /i);
  expect(Date.now() - startedAt).toBeLessThan(ANSWER_MS);
}

const everything = (): (() => Promise<Answer>)[] => [
  () => alice.submit(market, BID),
  () => exchange.client.get(`/markets/${market.id}/orderbook`),
  () => exchange.client.get('/markets/other'),
  () => alice.get('/me/orders'),
  () => alice.post(`/markets/${market.id}/orders/cancel-all`),
  // Creating a nonce needs no Redis; using it does.
  () => alice.signInOnce(),
  () => exchange.client.get('/admin/overview', { token: ADMIN_TOKEN }),
  () => exchange.client.get('/readyz'),
];

test('without Redis every request is answered 503, and the process stays alive', async () => {
  await exchange.redis.stop();
  await Promise.all(everything().map(checkAway));
  expect((await exchange.client.get('/livez')).status).toBe(200);
  expect(exchange.logged.join('\n')).not.toContain('INTERNAL');
});

test('with a frozen Redis every request is answered 503 in time', async () => {
  process.kill(exchange.redis.pid, 'SIGSTOP');
  try {
    await Promise.all(everything().map(checkAway));
  } finally {
    process.kill(exchange.redis.pid, 'SIGCONT');
  }
});

test('with a full Redis submissions are answered 503, which says so, while sign-ins, cancels and reads work', async () => {
  const { body } = await alice.submit(market, BID);
  const link = await openLink(exchange.redis.port);
  await link.ask('CONFIG SET maxmemory 1');
  await checkAway(() => alice.submit(market, BID));
  for (const refused of [await alice.submit(market, BID), await alice.post('/me/nonce')])
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringMatching(/^Redis is full:/)]);
  expect((await alice.signIn()).status).toBe(200);
  expect((await exchange.client.get(`/markets/${market.id}/orderbook`)).body.bids).toHaveLength(1);
  const cancelled = await alice.post(`/markets/${market.id}/orders/cancel`, { orderHash: body.orderHash });
  expect([cancelled.status, cancelled.body.cancelled]).toEqual([200, true]);
  await link.ask('CONFIG SET maxmemory 0');
  link.close();
  expect((await alice.submit(market, BID)).status).toBe(200);
});
