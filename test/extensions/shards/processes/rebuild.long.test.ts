import { Redis } from 'ioredis';
import { demoMarkets, openDemoMarkets } from '../../../../src/demo/markets';
import { INTERVALS_MS } from '../../../../src/store/records/candle';
import { addressBytes } from '../../../../src/store/records/order';
import { createKeys } from '../../../../src/store/redis/keys';
import { createShell } from '../../../cli/shell';
import type { Client } from '../../../support/client';
import { ADMIN_TOKEN } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { startReplica, startWebReplicas, type WebReplicas } from '../../../support/web-replicas';

/** The commands that rebuild journals and candles, and the invented past of the demo, over four shards. */
const SHARDS = 4;
const ENV = { SHARDS: String(SHARDS), PAPER_GRANT: '1000000' };
const shards = Array.from({ length: SHARDS }, (_, k) => createKeys(k));
const slugs = demoMarkets(new Date()).map(({ body }) => body.slug);
let exchange: WebReplicas;
let redis: Redis;
let client: Client;
let markets: Market[];
let [alice, bob]: Trader[] = [];
const run = (...words: string[]) => createShell(exchange.redis.url, ENV).json(...words);

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, env: ENV });
  redis = new Redis(exchange.redis.url);
  ({ client } = await exchange.replicaProcess());
  const domain = await domainOf(client);
  [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
  markets = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    const market = await openMarket(client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard });
    await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
    await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 1_000 });
    markets.push(market);
  }
});
afterAll(async () => {
  redis?.disconnect();
  await exchange?.stop();
});

/** Without the answers that a process has cached. */
async function anew<T>(look: (at: Client) => Promise<T>): Promise<T> {
  const web = await startReplica({ REDIS_URL: exchange.redis.url, ...ENV });
  try {
    return await look(web.client);
  } finally {
    await web.stop();
  }
}

test('a wallet’s positions and lines come back in every shard', async () => {
  const trader = alice as Trader;
  const read = async () => ({
    positions: (await trader.get('/me/positions')).body.data,
    lines: (await trader.get('/me/activity')).body.data,
  });
  const before = await read();
  expect(before.positions).toHaveLength(SHARDS);
  const wallet = addressBytes(trader.address);
  for (const keys of [shards[1], shards[3]]) {
    // The grant stays: like a split, it is in no match, so only its line says that it was.
    await redis.ltrim(keys?.journal(wallet) ?? '', 0, 0);
    expect(await redis.llen(keys?.journal(wallet) ?? '')).toBe(1);
    expect(await redis.del(keys?.positions(wallet) ?? '')).toBe(1);
  }
  expect((await trader.get('/me/positions')).body.data).toHaveLength(SHARDS - 2);
  expect((await run('audit')).differences).toContainEqual(expect.objectContaining({ kind: 'POSITION' }));
  const { checked, repaired, refused } = await run('journal', 'rebuild');
  expect({ checked, repaired, refused }).toEqual({
    checked: 2,
    repaired: [trader.address.toLowerCase()],
    refused: [],
  });
  expect(await read()).toEqual(before);
  expect((await run('journal', 'rebuild')).repaired).toEqual([]);
});

test('the candles of the markets of every shard come back', async () => {
  // Without those in which nothing traded: another one begins every five minutes.
  const candlesOf = (at: Client) =>
    Promise.all(
      markets.map(async ({ id }) => {
        const { candles } = (await at.get(`/markets/${id}/price-history?timeframe=1d`)).body;
        return candles.filter(({ v }: { v: string }) => v !== '0');
      }),
    );
  const before = await anew(candlesOf);
  for (const candles of before) expect(candles).toMatchObject([{ c: '0.6', v: '4' }]);
  await run('history', 'rebuild');
  // The marks say that all matches are counted, and the counts are gone.
  for (const [shard, { candles }] of shards.entries()) {
    const { id } = markets[shard] as Market;
    expect(
      await redis.del(...INTERVALS_MS.map((intervalMs) => candles(id, intervalMs / 1_000))),
    ).toBeGreaterThan(0);
  }
  expect(await anew(candlesOf)).toEqual(markets.map(() => []));
  const { markets: rebuilt } = await run('history', 'rebuild');
  expect(rebuilt.map(({ matches }: { matches: number }) => matches)).toEqual([1, 1, 1, 1]);
  expect(rebuilt.map(({ market }: { market: string }) => market).sort()).toEqual(
    markets.map(({ id }) => id).sort(),
  );
  expect(await anew(candlesOf)).toEqual(before);
});

test('each demo market gets its invented day in its own shard', async () => {
  await openDemoMarkets(client.url, ADMIN_TOKEN, demoMarkets(new Date()));
  expect((await run('demo-history')).invented).toHaveLength(slugs.length);
  const used = new Set<number>();
  for (const slug of slugs) {
    const { id } = (await client.get(`/markets/${slug}`)).body;
    expect(
      (await client.get(`/markets/${slug}/price-history?timeframe=1d`)).body.candles.length,
    ).toBeGreaterThan(280);
    const having = [];
    for (const [shard, { candleMarks }] of shards.entries())
      if (await redis.hexists(candleMarks, id)) having.push(shard);
    expect(having).toHaveLength(1);
    used.add(having[0] as number);
  }
  expect(used.size).toBeGreaterThan(1);
  expect((await run('demo-history')).invented).toEqual([]);
});
