import { ADMIN_TOKEN, startExchange, type TestExchange } from '../support/exchange';
import { createTrader, type Domain, type Market, openMarket, type Trader } from '../support/trader';

/** Replicas keep what they have read, and yet no answer is older than what was answered anywhere before it was asked. */
let exchange: TestExchange;
let market: Market;
let alice: Trader;

const ORDERS = 60;
const READERS = 8;
const READS = ['orderbook', 'ticker', 'trading', 'trades'] as const;

beforeAll(async () => {
  exchange = await startExchange({ replicas: 2 });
  alice = createTrader(exchange.client, (await exchange.client.get('/config')).body.eip712.domain as Domain);
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(() => exchange.stop());

const at = async (replica: number, what: string, headers = {}) =>
  exchange.replicas[replica]?.client.get(`/markets/${market.id}/${what}`, { headers });

test('a read begun after an answer shows its effect, on every replica, while many read', async () => {
  let answered = 0;
  let done = false;
  let looked = 0;
  const reader = async (replica: number): Promise<void> => {
    while (!done) {
      const least = answered;
      const body = (await at(replica, READS[looked++ % 3] ?? ''))?.body;
      expect(body.sequence).toBeGreaterThanOrEqual(least);
    }
  };
  const readers = Array.from({ length: READERS }, (_, i) => reader(i % 2));
  for (let i = 0; i < ORDERS; i++) {
    const pips = 1_000 + 100 * (i % 50);
    answered = (await alice.submit(market, { side: 'BUY', outcome: 0, pips, lots: 100 })).body.sequence;
    const book = (await at(1 - (i % 2), 'orderbook'))?.body;
    expect(book.sequence).toBe(answered);
  }
  done = true;
  await Promise.all(readers);
  expect(looked).toBeGreaterThan(ORDERS);
});

test('what is kept is what would be read: both replicas answer the same, again and again', async () => {
  await alice.submit(market, { side: 'BUY', outcome: 1, pips: 9_500, lots: 50 });
  for (const what of READS) {
    const answers = [];
    for (const replica of [0, 1, 0, 1]) {
      const { serverTime, ...body } = (await at(replica, what))?.body ?? {};
      answers.push(withoutTimes(body));
      if (what === 'trading') expect(Math.abs(serverTime - Date.now())).toBeLessThan(5_000);
    }
    expect(answers).toEqual(Array(4).fill(answers[0]));
  }
  expect((await at(0, 'trades'))?.body.data).toHaveLength(1);
});

test('a book that has not changed is 304 on every replica, and not after a change', async () => {
  const etag = (await at(0, 'orderbook'))?.headers.get('etag') ?? '';
  expect((await at(1, 'orderbook', { 'if-none-match': etag }))?.status).toBe(304);
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 100, lots: 100 });
  for (const replica of [0, 1]) {
    expect((await at(replica, 'orderbook', { 'if-none-match': etag }))?.status).toBe(200);
  }
});

test('a market that does not exist is not kept', async () => {
  for (const what of READS) {
    const answer = await exchange.client.get(`/markets/nothing/${what}`);
    expect([answer.status, answer.body.code]).toEqual([404, 'MARKET_NOT_FOUND']);
  }
});

/** When it was read differs from replica to replica. */
const withoutTimes = (body: object): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'timestamp' ? 0 : value)));
