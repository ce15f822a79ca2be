import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let markets: readonly Market[];
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  alice = createTrader(exchange.client, await domainOf(exchange.client));
  const open = () => openMarket(exchange.client, ADMIN_TOKEN);
  markets = [await open(), await open(), await open()];
});
afterAll(() => exchange.stop());

const get = (path: string, replica = 0) =>
  exchange.replicas[replica]?.client.get(path) ?? Promise.reject(new Error('no such replica'));
const withoutTimes = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'timestamp' ? 0 : value)));

test.each([
  ['orderbooks', 'orderbook', ''],
  ['orderbooks', 'orderbook', 'depth=1'],
  ['tickers', 'ticker', ''],
])(
  '%s are what each %s is alone, in the order asked for, whatever names the markets',
  async (all, one, query) => {
    for (const [i, market] of markets.entries()) {
      await alice.submit(market, { side: 'BUY', outcome: 0, pips: 1_000 + i, lots: 100 });
      await alice.submit(market, { side: 'BUY', outcome: 0, pips: 2_000 + i, lots: 100 });
    }
    const [first, second, third] = await Promise.all(
      markets.map(async ({ id }) => (await get(`/markets/${id}`)).body),
    );
    const ids = [third.id, first.slug, second.conditionId].join(',');
    for (const replica of [0, 1, 0, 1]) {
      const { status, body } = await get(`/${all}?ids=${ids}&${query}`, replica);
      expect(status).toBe(200);
      const alone = await Promise.all(
        [third, first, second].map(async ({ id }) => (await get(`/markets/${id}/${one}?${query}`)).body),
      );
      expect(withoutTimes(body)).toEqual(withoutTimes({ data: alone }));
    }
  },
);

test('several books show an order on every replica as soon as it was answered', async () => {
  const ids = markets.map(({ id }) => id).join(',');
  for (const market of markets) {
    const { body } = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 300, lots: 100 });
    for (const replica of [0, 1]) {
      for (const all of ['orderbooks', 'tickers']) {
        const { data } = (await get(`/${all}?ids=${ids}`, replica)).body;
        const shown = data.find((row: { marketId: string }) => row.marketId === market.id);
        expect(shown.sequence).toBe(body.sequence);
      }
    }
  }
});

test('an unknown market is named', async () => {
  const { status, body } = await get(`/orderbooks?ids=${markets[0]?.id},nothing1`);
  expect([status, body.code]).toEqual([404, 'MARKET_NOT_FOUND']);
  expect(body.detail).toContain('nothing1');
});

test.each([
  ['without ids', ''],
  ['with an empty name', 'ids=a,,b'],
  ['with more than 50 names', `ids=${Array.from({ length: 51 }, (_, i) => `m${i}`).join(',')}`],
])('a request %s is refused', async (_what, query) => {
  const { status, body } = await get(`/tickers?${query}`);
  expect([status, body.code, body.errors[0].path]).toEqual([400, 'INVALID_REQUEST', 'ids']);
});

test('of a list of thousands of names no more than 51 are looked at', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `m${i}`).join(',');
  const few = await get(`/tickers?ids=${names},`);
  expect(few.body.errors[0].message).toBe('must be names of markets, separated by commas');
  // The empty 52nd name is not reached.
  const many = await get(`/tickers?ids=${names},m50,${','.repeat(5_000)}`);
  expect(many.body.errors[0].message).toBe('may be at most 50 markets');
});

test('a market that is named twice is answered once', async () => {
  const id = markets[0]?.id;
  expect((await get(`/tickers?ids=${id},${id}`)).body.data).toHaveLength(1);
});

test('each book costs a point of the reads, and less with few levels', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `nothing${i}`).join(',');
  const limited = await startWebReplicas({ replicas: 1, env: { RATE_LIMIT: 'on' } });
  const left = async (path: string): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    return Number(/r=(\d+)/.exec((await limited.client.get(path)).headers.get('ratelimit') ?? '')?.[1]);
  };
  try {
    const all = await left(`/orderbooks?ids=${names}`);
    const one = await left(`/orderbooks?ids=${names}&depth=1`);
    expect(one - all).toBe(49);
  } finally {
    await limited.stop();
  }
});
