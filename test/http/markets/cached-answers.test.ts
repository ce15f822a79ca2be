import { sizeOf } from '../../support/sample';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { inOneMinute } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Replicas cache what they have read, but no answer is older than any answer given before its request. */
let exchange: WebReplicas;
let market: Market;
let alice: Trader;

const ORDERS = sizeOf('CACHED_ORDERS', 20, 60);
const READERS = 8;
/** Reads that state the market's sequence. */
const NUMBERED = ['orderbook', 'orderbook?depth=3', 'ticker', 'trading', ''] as const;
const READS = [
  ...NUMBERED,
  'trades',
  'trades?limit=2',
  'price-history?timeframe=1h',
  'candles?interval=1d',
  'comments',
] as const;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  alice = createTrader(exchange.client, await domainOf(exchange.client));
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(() => exchange.stop());

const at = async (replica: number, what: string, headers = {}) =>
  exchange.replicas[replica]?.client.get(`/markets/${market.id}${what && '/'}${what}`, { headers });

test('a read begun after an answer shows its effect, on every replica, while many read', async () => {
  let answered = 0;
  let done = false;
  let looked = 0;
  const reader = async (replica: number): Promise<void> => {
    while (!done) {
      const least = answered;
      const body = (await at(replica, NUMBERED[looked++ % NUMBERED.length] ?? ''))?.body;
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

test('cached answers equal fresh reads, and both replicas answer the same', async () => {
  await alice.submit(market, { side: 'BUY', outcome: 1, pips: 9_500, lots: 50 });
  for (const what of READS) {
    const answers = await inOneMinute(async () => {
      const bodies = [];
      for (const replica of [0, 1, 0, 1]) {
        const { serverTime, ...body } = (await at(replica, what))?.body ?? {};
        bodies.push(withoutTimes(body));
        if (what === 'trading') expect(Math.abs(serverTime - Date.now())).toBeLessThan(60_000);
      }
      return bodies;
    });
    expect(answers).toEqual(Array(4).fill(answers[0]));
  }
  for (const what of ['trades', 'trades?limit=2']) expect((await at(0, what))?.body.data).toHaveLength(1);
});

test('an unchanged book is answered 304 on every replica, and a changed one is not', async () => {
  const etag = (await at(0, 'orderbook'))?.headers.get('etag') ?? '';
  expect((await at(1, 'orderbook', { 'if-none-match': etag }))?.status).toBe(304);
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 100, lots: 100 });
  for (const replica of [0, 1]) {
    expect((await at(replica, 'orderbook', { 'if-none-match': etag }))?.status).toBe(200);
  }
});

test('pages of trades and prices show a trade on every replica as soon as it was answered', async () => {
  const pages = ['trades', 'trades?limit=2', 'trades?limit=500', 'price-history?timeframe=1h'] as const;
  for (const what of pages) await at(1, what);
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 600, lots: 100 });
  const { body } = await alice.submit(market, { side: 'BUY', outcome: 1, pips: 9_400, lots: 100 });
  for (const what of pages.slice(0, 3)) {
    expect((await at(1, what))?.body.data[0].sequence).toBe(body.sequence);
  }
  const [volume] = ((await at(1, pages[3]))?.body.candles ?? [])
    .slice(-1)
    .map(({ v }: { v: string }) => Number(v));
  expect(volume).toBeGreaterThan(0);
});

test('an order and its fills show every change on every replica as soon as it was answered', async () => {
  const other = await openMarket(exchange.client, ADMIN_TOKEN);
  const hash = (await alice.submit(other, { side: 'BUY', outcome: 0, pips: 700, lots: 300 })).body.orderHash;
  const order = async () => (await exchange.replicas[1]?.client.get(`/orders/${hash}`))?.body;
  const fills = async () => (await exchange.replicas[1]?.client.get(`/orders/${hash}/fills`))?.body.data;
  for (let count = 1; count <= 3; count++) {
    await alice.submit(other, { side: 'BUY', outcome: 1, pips: 9_300, lots: 100 });
    expect(await order()).toMatchObject({ filledSize: String(count), fillCount: count });
    expect(await order()).toEqual(await order());
    expect(await fills()).toHaveLength(count);
  }
  expect((await alice.get(`/orders/${hash}`)).body).toMatchObject({ order: { maker: alice.address } });
  expect(await order()).not.toHaveProperty('order');
});

test('comments and profiles show every change on every replica as soon as it was answered', async () => {
  const texts = async () => (await at(1, 'comments'))?.body.data.map((row: { body: string }) => row.body);
  const profile = async () => (await exchange.replicas[1]?.client.get(`/profiles/${alice.address}`))?.body;
  expect(await texts()).toEqual([]);
  const { body } = await alice.post(`/markets/${market.id}/comments`, { body: 'one' });
  expect(await texts()).toEqual(['one']);
  await alice.post(`/comments/${body.id}/like`);
  expect((await at(1, 'comments'))?.body.data[0].likes).toBe(1);
  expect((await profile()).username).toBeNull();
  await alice.send('PATCH', '/me/profile', { username: 'alice_kept' });
  expect((await profile()).username).toBe('alice_kept');
  expect((await at(1, 'comments'))?.body.data[0].author.username).toBe('alice_kept');
  await alice.send('DELETE', `/comments/${body.id}`);
  expect((await at(1, 'comments'))?.body.data[0].deleted).toBe(true);
});

test('the answer for an unknown market is not cached', async () => {
  for (const what of READS) {
    const answer = await exchange.client.get(`/markets/nothing/${what}`);
    expect([answer.status, answer.body.code]).toEqual([404, 'MARKET_NOT_FOUND']);
  }
});

/** The time of the read differs between replicas. */
const withoutTimes = (body: object): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'timestamp' ? 0 : value)));

test('a cursor that looks empty is refused, whatever is cached', async () => {
  const { body } = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 300, lots: 100 });
  const client = exchange.replicas[0]?.client;
  const lists = ['trades', 'comments', `orders/${body.orderHash}/fills`].map((list) =>
    list.startsWith('orders') ? `/${list}` : `/markets/${market.id}/${list}`,
  );
  await client?.get(`/orders/${body.orderHash}`);
  for (const list of lists) {
    for (let turn = 0; turn < 2; turn++) {
      const answers = await Promise.all([client?.get(`${list}?cursor=null`), client?.get(list)]);
      expect(answers.map((answer) => answer?.body.code)).toEqual(['INVALID_CURSOR', undefined]);
    }
  }
});
