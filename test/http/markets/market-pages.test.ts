import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import type { Answer, Client } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { inOneMinute, READY_MS } from '../../support/waiting';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let here: Client;
let there: Client;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  [here, there] = exchange.replicas.map(({ client }) => client) as [Client, Client];
  const domain: Domain = await domainOf(here);
  alice = createTrader(here, domain);
  bob = createTrader(here, domain);
  await Promise.all([alice.signIn(), bob.signIn()]);
});
afterAll(() => exchange?.stop());

const newMarket = (body: Record<string, unknown>): Promise<Market> => openMarket(here, ADMIN_TOKEN, body);

/** One trade of a number of shares at 0.50. */
async function trade(market: Market, shares: number): Promise<void> {
  await bob.submit(market, limit('BUY', 1, 5_000, shares * 100));
  await alice.submit(market, limit('BUY', 0, 5_000, shares * 100));
}

async function ids(client: Client, query: string): Promise<string[]> {
  const { body } = await client.get(`/markets?limit=100&${query}`);
  return body.data.map(({ id }: { id: string }) => id);
}

async function walk(query: string, between: (page: number) => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page === 0 || cursor !== null; page++) {
    const client = page % 2 ? there : here;
    const { body }: Answer = await client.get(`/markets?${query}${cursor ? `&cursor=${cursor}` : ''}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
    await between(page);
  }
  return seen;
}

test('a walk neither skips nor repeats a market while trades turn the order around and markets are added', async () => {
  const markets: Market[] = [];
  for (let i = 0; i < 12; i++) markets.push(await newMarket({ category: 'walk', tags: [`t${i % 2}`] }));
  for (const [i, market] of markets.entries()) await trade(market, i + 1);
  const expected = markets.map(({ id }) => id).sort();
  let shares = 100;
  for (const sort of ['volume24h', 'volume', 'liquidity']) {
    const seen = await walk(`category=walk&limit=5&sort=${sort}`, async () => {
      // The last ones become the first ones, and what was first is overtaken.
      for (const at of [0, 3, 7]) {
        shares += 100;
        if (sort === 'liquidity')
          await bob.submit(markets[at] as Market, limit('BUY', 0, 1_000, shares * 100));
        else await trade(markets[at] as Market, shares);
      }
      await newMarket({ category: 'walk', tags: ['late'] });
    });
    expect(seen.length).toBe(new Set(seen).size);
    expect(seen.filter((id) => expected.includes(id)).sort()).toEqual(expected);
  }
  const odd = await walk('category=walk&tag=t1&limit=2', async () => undefined);
  expect(odd.sort()).toEqual(expected.filter((id) => markets.findIndex((m) => m.id === id) % 2 === 1));
});

test('after an answer every replica’s list shows its effect', async () => {
  const market = await newMarket({ category: 'fresh', question: 'Is it there at once?' });
  for (let round = 1; round <= 10; round++) {
    await trade(market, 1);
    const [a, b] = await Promise.all([here, there].map((client) => client.get('/markets?category=fresh')));
    for (const answer of [a, b]) expect(answer?.body.data[0].volume).toBe(String(round * 0.5));
  }
  await bob.post(`/markets/${market.id}/split`, { size: '7' });
  expect((await there.get('/markets?category=fresh')).body.data[0].openInterest).toBe('17');
  await here.call('PATCH', `/admin/markets/${market.id}`, {
    token: ADMIN_TOKEN,
    body: { category: 'fresher', tags: ['new'] },
  });
  expect(await ids(there, 'category=fresh')).toEqual([]);
  expect(await ids(there, 'category=fresher&tag=new')).toEqual([market.id]);
  await here.post(`/admin/markets/${market.id}/pause`, { token: ADMIN_TOKEN });
  expect(await ids(there, 'category=fresher&status=OPEN')).toEqual([]);
  expect(await ids(there, 'category=fresher&status=PAUSED')).toEqual([market.id]);
  const { body } = await there.get('/categories');
  expect(body.data).toContainEqual({ slug: 'fresher', name: 'Fresher', count: 1 });
  const [listed] = (await there.get('/markets?category=fresher')).body.data;
  expect(listed).toEqual((await here.get(`/markets/${market.id}`)).body);
});

test('a search finds every word, in any case and with or without accents', async () => {
  const market = await newMarket({
    question: 'Wird Zürich im Jänner ÜBERFLUTET?',
    category: 'wasser',
    tags: ['pegel'],
    description: 'Nach dem Pegel am Bürkliplatz.',
  });
  for (const words of [
    'zurich überflutet',
    'ZÜRICH',
    'pegel wasser',
    'burkli',
    '  jänner  ',
    'u\u0308berflutet',
  ]) {
    expect([words, await ids(there, `q=${encodeURIComponent(words)}`)]).toEqual([words, [market.id]]);
  }
  expect(await ids(there, 'q=zurich%20basel')).toEqual([]);
  expect((await ids(there, `q=${encodeURIComponent('(.*)+$')}`)).length).toBe(0);
});

test('while no market changes, a list costs one command', async () => {
  const redis = connect({ urls: [exchange.redis.url] });
  await ready(redis, READY_MS);
  const calls = async (): Promise<Map<string, number>> => {
    const found = String(await redis.call('INFO', 'commandstats')).matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g);
    return new Map([...found].map(([, name = '', count]) => [name, Number(count)]));
  };
  const [before, after] = await inOneMinute(async () => {
    await here.get('/markets');
    const first = await calls();
    for (let i = 0; i < 20; i++) expect((await here.get('/markets')).status).toBe(200);
    return [first, await calls()] as const;
  });
  const more = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  expect(more('xrevrange')).toBe(20);
  // Each market is a hash; the broadcaster reads one now and then.
  expect(more('lrange')).toBe(0);
  expect(more('hgetall')).toBeLessThan(20);
  disconnect(redis);
});

test('an invalid query of the list is refused', async () => {
  const { body: page } = await here.get('/markets?limit=1');
  const cursor: string = page.nextCursor;
  for (const [query, code] of [
    ['limit=0', 'INVALID_LIMIT'],
    ['limit=-1', 'INVALID_LIMIT'],
    ['sort=name', 'INVALID_REQUEST'],
    ['status=DRAFT', 'INVALID_REQUEST'],
    ['status=open', 'INVALID_REQUEST'],
    ['q=%ff', 'INVALID_REQUEST'],
    [`q=${'x'.repeat(201)}`, 'INVALID_REQUEST'],
    ['cursor=', 'INVALID_CURSOR'],
    ['cursor=x', 'INVALID_CURSOR'],
    [`cursor=${cursor}&cursor=${cursor}`, 'INVALID_CURSOR'],
    [`sort=volume&cursor=${cursor}`, 'INVALID_CURSOR'],
    ['cursor=volume24h.AAAAAAAA', 'INVALID_CURSOR'],
    ['cursor=volume24h._____w', 'INVALID_CURSOR'],
    [`cursor=volume24h.${'A'.repeat(10_200)}`, 'INVALID_CURSOR'],
  ]) {
    const { status, body } = await there.get(`/markets?${query}`);
    expect([query, status, body.code]).toEqual([query, 400, code]);
  }
  expect((await there.get('/markets?limit=1000')).body.data.length).toBeLessThanOrEqual(100);
});
