import type { Answer } from '../support/client';
import { ADMIN_TOKEN, startExchange, type TestExchange } from '../support/exchange';
import { createTrader, openMarket } from '../support/trader';

let exchange: TestExchange;

beforeEach(async () => {
  exchange = await startExchange({ replicas: 2, env: { RATE_LIMIT: 'on' } });
});
afterEach(() => exchange.stop());

/** In turn at both replicas, all at once. */
const many = (count: number, ask: (turn: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)));
const client = (turn: number) => (exchange.replicas[turn % 2] ?? exchange.replicas[0]).client;
const count = (answers: readonly Answer[], status: number): number =>
  answers.filter((a) => a.status === status).length;

test('reads: 100 a second of one address, over all replicas', async () => {
  const answers = await many(250, (i) => client(i).get('/time'));
  expect(count(answers, 200)).toBeGreaterThanOrEqual(100);
  expect(count(answers, 429)).toBeGreaterThan(0);
  expect(count(answers, 200) + count(answers, 429)).toBe(250);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
  expect(refused?.headers.get('retry-after')).toBe('1');
  expect(refused?.headers.get('ratelimit-policy')).toBe('"reads";q=100;w=1');
  expect(refused?.headers.get('ratelimit')).toMatch(/^"reads";r=0;t=1$/);
  const probes = await many(150, (i) => client(i).get('/livez'));
  expect(count(probes, 200)).toBe(150);
});

test('sign-in: 10 a minute of one address', async () => {
  const { address } = createTrader(exchange.client, {} as never);
  const answers = await many(15, (i) => client(i).get(`/auth/nonce/${address}`));
  expect([count(answers, 200), count(answers, 429)]).toEqual([10, 5]);
});

test("nobody uses up another wallet's orders, and a burst of 100 passes", async () => {
  const { body } = await exchange.client.get('/config');
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const alice = createTrader(exchange.client, body.eip712.domain);
  const limit = { side: 'BUY', outcome: 0, pips: 100, lots: 1 } as const;
  const orders = await Promise.all(Array.from({ length: 100 }, () => alice.order(market, limit)));
  const path = `/markets/${market.id}/orders`;
  const forged = await many(150, (i) =>
    client(i).post(path, { body: { order: { ...orders[0], salt: `${i}` } } }),
  );
  expect(count(forged, 400)).toBe(150);
  const answers = await many(100, (i) => client(i).post(path, { body: { order: orders[i] } }));
  expect(count(answers, 200)).toBe(100);
});
