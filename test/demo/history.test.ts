import { demoMarkets, openDemoMarkets } from '../../src/demo/markets';
import { createShell } from '../cli/shell';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket, type Trader } from '../support/trader';
import { startReplica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

const DAY_BUCKETS = 288;

let exchange: WebReplicas;
let alice: Trader;
let bob: Trader;
const slugs = demoMarkets(new Date()).map(({ body }) => body.slug);
const [first = ''] = slugs;

beforeAll(async () => {
  exchange = await startWebReplicas();
  await openDemoMarkets(exchange.client.url, ADMIN_TOKEN, demoMarkets(new Date()));
  const domain = await domainOf(exchange.client);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
});
afterAll(() => exchange.stop());

async function run(...words: string[]): Promise<void> {
  const { code, err } = await createShell(exchange.redis.url).exchange(...words);
  expect([code, err]).toEqual([0, '']);
}
const get = async (slug: string, view: string) => (await exchange.client.get(`/markets/${slug}${view}`)).body;
const candles = async (slug: string) => (await get(slug, '/price-history?timeframe=1d')).candles;

/** Answers of a process without cached answers: others show a rebuild when the market moves or the minute ends. */
async function candlesAnew(slug: string) {
  const { web, client } = await startReplica({ REDIS_URL: exchange.redis.url });
  try {
    return (await client.get(`/markets/${slug}/price-history?timeframe=1d`)).body.candles;
  } finally {
    await web.stop(1_000);
  }
}

test('a new demo market gets a day of prices, without volume or trades', async () => {
  const other = await openMarket(exchange.client, ADMIN_TOKEN);
  await run('demo-history');
  for (const slug of slugs) {
    const day = await candles(slug);
    // The bucket that is still filling belongs to it.
    expect(day.length).toBeGreaterThanOrEqual(DAY_BUCKETS - 1);
    expect(day.every(({ v }: { v: string }) => v === '0')).toBe(true);
    expect(new Set(day.map(({ c }: { c: string }) => c)).size).toBeGreaterThan(3);
    expect(await get(slug, '')).toMatchObject({
      volume: '0',
      volume24h: '0',
      lastTradePrice: null,
      sequence: 1,
    });
    expect((await get(slug, '/trades')).data).toEqual([]);
    expect((await get(slug, '/price-history?timeframe=all')).history.length).toBeGreaterThan(1);
  }
  expect(await candles(other.slug)).toEqual([]);
});

test('the invented day is written once, and trades continue after it with their own volume', async () => {
  const before = await candles(first);
  await run('demo-history');
  expect((await candles(first)).slice(0, -2)).toEqual(before.slice(0, -2));
  const market = await get(first, '');
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 1_000 });
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
  const day = await candles(first);
  expect(day.at(-1)).toMatchObject({ c: '0.6', v: '6' });
  expect(day.slice(0, -2)).toEqual(before.slice(0, day.length - 2));
  const { outcomes } = await get(first, '/ticker');
  expect(outcomes[0]).toMatchObject({ lastTradePrice: '0.6', volume24h: '6' });
  // Against the invented price of yesterday.
  expect(Number(outcomes[0].priceChange24h)).toBeCloseTo(0.6 - Number(before[0].o), 1);
});

test('a rebuild counts only trades, and the invented day does not come back', async () => {
  await run('history', 'rebuild');
  expect(await candlesAnew(first)).toEqual([expect.objectContaining({ c: '0.6', v: '6' })]);
  await run('demo-history');
  expect(await candlesAnew(first)).toHaveLength(1);
});
