import { LIMITS } from '../../../src/wire/limits';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket, type Trader } from '../../support/trader';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** TradingView's Universal Data Feed, by its own rules: `s`, columns of one length, seconds in ascending order. */
const RESOLUTION_SEC: Readonly<Record<string, number>> = {
  '1': 60,
  '5': 300,
  '15': 900,
  '60': 3_600,
  '240': 14_400,
  '1D': 86_400,
};

let exchange: WebReplicas;
let market: OpenMarket;
let empty: OpenMarket;
let nowSec: number;

beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
  const domain = await domainOf(exchange.client);
  const [bob, alice] = [0, 1].map(() => createTrader(exchange.client, domain)) as [Trader, Trader];
  market = await openMarket(exchange.client, ADMIN_TOKEN, { question: 'Does the chart show it?' });
  empty = await openMarket(exchange.client, ADMIN_TOKEN, {
    question: 'Was nothing traded?',
    tickSize: '0.001',
  });
  for (const [pips, lots] of [
    [6_000, 3_000],
    [4_000, 1_050],
    [5_000, 100],
  ] as const) {
    const rests = await bob.submit(market, limit('BUY', 1, 10_000 - pips, lots));
    const takes = await alice.submit(market, limit('BUY', 0, pips, lots));
    expect([rests.status, takes.body.status]).toEqual([200, 'FILLED']);
  }
  nowSec = Number((await exchange.client.get('/udf/time')).text);
});
afterAll(() => exchange.stop());

const history = async (symbol: string, more: string) =>
  (await exchange.client.get(`/udf/history?symbol=${symbol}&${more}`)).body;
const recent = (resolution: string): string =>
  `resolution=${resolution}&from=${nowSec - 86_400}&to=${nowSec + 86_400}`;

test('a chart whose range ends before it begins costs a point, too', async () => {
  const { status, headers } = await exchange.client.get(
    `/udf/history?symbol=${market.id}&resolution=1&from=99999999999&to=1`,
  );
  expect(status).toBe(200);
  const left = Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  expect(left).toBeLessThan(LIMITS.reads.points);
});

test('the feed describes its abilities, and returns the time in seconds', async () => {
  const { body } = await exchange.client.get('/udf/config');
  expect(body.supported_resolutions).toEqual(Object.keys(RESOLUTION_SEC));
  expect(body).toMatchObject({ supports_search: true, supports_group_request: false, supports_time: true });
  expect(Math.abs(nowSec - Date.now() / 1_000)).toBeLessThan(60);
});

test('a symbol is an outcome of a market, with the scale of its prices', async () => {
  const yes = (await exchange.client.get(`/udf/symbols?symbol=${market.slug}`)).body;
  expect(yes).toMatchObject({
    ticker: `${market.slug}.YES`,
    description: 'Does the chart show it? Yes',
    minmov: 1,
    pricescale: 100,
    session: '24x7',
    has_intraday: true,
    data_status: 'streaming',
  });
  // A chart asks again for the ticker that it was given, with the exchange in front.
  const again = (await exchange.client.get(`/udf/symbols?symbol=${yes.exchange}:${yes.ticker}`)).body;
  expect(again).toEqual(yes);
  const no = (await exchange.client.get(`/udf/symbols?symbol=${empty.id}.no`)).body;
  expect(no).toMatchObject({ ticker: `${empty.slug}.NO`, pricescale: 1_000 });
  const capitals = `${yes.exchange}:${yes.ticker}`.toUpperCase();
  expect((await exchange.client.get(`/udf/symbols?symbol=${capitals}`)).body).toEqual(yes);
  const unknown = await exchange.client.get('/udf/symbols?symbol=no-such-market.YES');
  expect([unknown.status, unknown.body]).toEqual([200, { s: 'error', errmsg: 'unknown_symbol' }]);
});

test('a search finds both outcomes by words', async () => {
  const found = async (query: string): Promise<string[]> =>
    (await exchange.client.get(`/udf/search?${query}`)).body.map(({ ticker }: { ticker: string }) => ticker);
  expect(await found('query=chart+show&type=&exchange=&limit=30')).toEqual([
    `${market.slug}.YES`,
    `${market.slug}.NO`,
  ]);
  expect(await found('query=&limit=3')).toHaveLength(3);
  expect(await found('query=nothing-like-it')).toEqual([]);
  expect(await found('query=chart&type=stock')).toEqual([]);
});

test.each(Object.entries(RESOLUTION_SEC))(
  'the candles of resolution %s are columns of one length, in seconds, ascending',
  async (resolution, seconds) => {
    const bars = await history(`${market.slug}.YES`, recent(resolution));
    expect(bars.s).toBe('ok');
    for (const name of ['o', 'h', 'l', 'c', 'v']) expect(bars[name]).toHaveLength(bars.t.length);
    for (const [i, at] of bars.t.entries()) {
      expect(at % seconds).toBe(0);
      if (i > 0) expect(at).toBe(bars.t[i - 1] + seconds);
      expect(bars.h[i]).toBeGreaterThanOrEqual(Math.max(bars.o[i], bars.c[i]));
      expect(bars.l[i]).toBeLessThanOrEqual(Math.min(bars.o[i], bars.c[i]));
    }
    expect(bars.v.reduce((sum: number, one: number) => sum + one, 0)).toBe(41.5);
    expect(bars.c.at(-1)).toBe(0.5);
  },
);

test('the candles of No mirror those of Yes', async () => {
  const [yes, no] = await Promise.all([
    history(`${market.slug}.YES`, recent('1D')),
    history(`${market.slug}.NO`, recent('1D')),
  ]);
  expect(no.t).toEqual(yes.t);
  const left = (prices: number[]): number[] => prices.map((price) => Number((1 - price).toFixed(4)));
  expect([no.o, no.h, no.l, no.c]).toEqual([left(yes.o), left(yes.l), left(yes.h), left(yes.c)]);
});

test('`to` is exclusive, and `countback` counts back from it instead of `from`', async () => {
  const minute = Math.ceil(nowSec / 60) * 60;
  const bars = await history(market.id, `resolution=1&from=0&to=${minute + 60}&countback=2`);
  expect(bars.t.length).toBeGreaterThan(0);
  expect(bars.t.length).toBeLessThanOrEqual(2);
  const [last] = bars.t.slice(-1);
  const before = await history(market.id, `resolution=1&from=${last - 60}&to=${last}`);
  expect(before.t ?? []).not.toContain(last);
  const long = await history(market.id, `resolution=1&from=0&to=${nowSec + 60}&countback=9999`);
  expect(long.s).toBe('ok');
});

test('a range without candles is no_data, and names the candle before it if there is one', async () => {
  const long = nowSec - 30 * 86_400;
  expect(await history(market.id, `resolution=60&from=${long}&to=${long + 86_400}`)).toEqual({
    s: 'no_data',
  });
  expect(await history(empty.id, recent('60'))).toEqual({ s: 'no_data' });
  const ahead = nowSec + 10 * 86_400;
  const later = await history(market.id, `resolution=1D&from=${ahead}&to=${ahead + 86_400}`);
  const day = Math.floor(nowSec / 86_400) * 86_400;
  expect(later).toEqual({ s: 'no_data', nextTime: expect.any(Number) });
  expect([day, day + 86_400]).toContain(later.nextTime);
});

test('an unknown symbol or resolution is an error in the format of charts, and a malformed query is a problem', async () => {
  expect(await history('no-such-market', recent('60'))).toEqual({ s: 'error', errmsg: 'unknown_symbol' });
  const weekly = await history(market.id, recent('1W'));
  expect(weekly).toEqual({ s: 'error', errmsg: expect.stringContaining('1, 5, 15, 60, 240, 1D') });
  for (const query of ['to=1', 'from=1', 'from=2&to=1x', 'from=1&to=2&countback=0', 'from=1&to=2&other=1']) {
    const { status, body } = await exchange.client.get(
      `/udf/history?symbol=${market.id}&resolution=60&${query}`,
    );
    expect([query, status, body.code]).toEqual([query, 400, 'INVALID_REQUEST']);
  }
});

test('a chart is limited as other reads are: a thousand candles cost twenty points', async () => {
  const { headers } = await exchange.client.get(
    `/udf/history?symbol=${market.id}&resolution=1&to=${nowSec}&countback=1000`,
  );
  expect(headers.get('ratelimit-policy')).toContain(`"reads";q=${LIMITS.reads.points}`);
  const left = Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  expect(left).toBeLessThanOrEqual(LIMITS.reads.points - 20);
});
