import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let market: Market;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  const domain = await domainOf(exchange.client);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(() => exchange.stop());

const ask = (query: string, replica = 0) =>
  exchange.replicas[replica]?.client.get(`/markets/${market.id}/candles${query}`) ??
  Promise.reject(new Error('no such replica'));

async function trade(pips: number, lots: number): Promise<void> {
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 10_000 - pips, lots });
  await alice.submit(market, { side: 'BUY', outcome: 0, pips, lots });
}

test('a market without a trade has no candles', async () => {
  const { status, body } = await ask('');
  expect([status, body]).toEqual([
    200,
    { marketId: market.id, interval: '1m', outcomeIndex: 0, candles: [] },
  ]);
});

test('candles have open, high, low, close, shares and trades, and those of No mirror those of Yes', async () => {
  await trade(6_000, 3_000);
  await trade(4_000, 1_050);
  await trade(5_000, 100);
  for (const interval of ['1d', '4h', '1h']) {
    const { body } = await ask(`?interval=${interval}`);
    expect(body).toMatchObject({ interval, outcomeIndex: 0 });
    const traded = body.candles.filter(({ n }: { n: number }) => n > 0);
    // Midnight may fall between two of them.
    expect(traded.reduce((sum: number, { n }: { n: number }) => sum + n, 0)).toBe(3);
    if (traded.length > 1) continue;
    expect(traded).toEqual([
      { t: expect.any(Number), o: '0.6', h: '0.6', l: '0.4', c: '0.5', v: '41.5', n: 3 },
    ]);
    const no = (await ask(`?interval=${interval}&outcomeIndex=1`)).body.candles.filter(
      ({ n }: { n: number }) => n > 0,
    );
    expect(no).toEqual([{ ...traded[0], o: '0.4', h: '0.6', l: '0.4', c: '0.5' }]);
  }
});

test('a trade shows in the candles of every replica as soon as it was answered', async () => {
  const count = async (replica: number): Promise<number> =>
    (await ask('?interval=1d', replica)).body.candles.reduce(
      (sum: number, { n }: { n: number }) => sum + n,
      0,
    );
  for (let i = 0; i < 5; i++) {
    const before = await count(1);
    await trade(5_500, 100);
    expect([await count(0), await count(1)]).toEqual([before + 1, before + 1]);
  }
});

test('from and to name the candles by their first second, both included', async () => {
  const { candles } = (await ask('?interval=1m')).body;
  const { t } = candles[0];
  expect(t % 60).toBe(0);
  const starts = async (query: string) =>
    (await ask(`?interval=1m${query}`)).body.candles.map((candle: { t: number }) => candle.t);
  expect(await starts(`&from=${t}&to=${t}`)).toEqual([t]);
  expect(await starts(`&from=${t - 59}&to=${t + 59}`)).toEqual([t]);
  expect(await starts(`&to=${t - 1}`)).toEqual([]);
  expect(await starts(`&from=0&limit=1`)).toEqual([t]);
  expect(await starts(`&limit=1`)).toEqual([candles.at(-1).t]);
  // An interval that has not begun has no candle.
  expect(await starts(`&from=${t + 7_200}&to=${t + 90_000}`)).toEqual([]);
});

test.each([
  ['?interval=2m', 'interval'],
  ['?from=1.5', 'from'],
  ['?to=-1', 'to'],
  ['?from=20&to=10', 'from'],
  ['?outcomeIndex=2', 'outcomeIndex'],
  ['?timeframe=1d', 'timeframe'],
])('%s is refused by name', async (query, path) => {
  const { status, body } = await ask(query);
  expect([status, body.code, body.errors[0].path]).toEqual([400, 'INVALID_REQUEST', path]);
});

test('a moment in milliseconds is refused with a hint about its unit', async () => {
  const { body } = await ask(`?from=${Date.now()}`);
  expect(body.detail).toContain('milliseconds');
});

test('more than 1,000 candles count as 1,000, and 0 candles cannot be requested', async () => {
  expect((await ask('?limit=5000')).body).toEqual((await ask('?limit=1000')).body);
  expect((await ask('?limit=0')).body.code).toBe('INVALID_LIMIT');
});
