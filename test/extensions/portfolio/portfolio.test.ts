import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type OpenMarket,
  openMarket,
  type Trader,
} from '../../support/trader';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;

beforeAll(async () => {
  exchange = await startWebReplicas({ env: { PAPER_GRANT: '1000' } });
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange?.stop());

const newTrader = (): Trader => createTrader(exchange.client, domain);
const newMarket = (): Promise<OpenMarket> => openMarket(exchange.client, ADMIN_TOKEN, {});
async function portfolio(trader: Trader, timeframe = '1h') {
  const { status, body } = await trader.get(`/me/portfolio?timeframe=${timeframe}`);
  expect(status).toBe(200);
  return body;
}

test('an idle wallet is worth its grant', async () => {
  const { history, ...now } = await portfolio(newTrader());
  expect(now).toEqual({
    value: '1000',
    cash: '1000',
    reserved: '0',
    positionsValue: '0',
    pnl: { total: '0', today: '0' },
  });
  expect(history.at(-1).value).toBe('1000');
  expect(history.length).toBeGreaterThan(50);
});

test('the whole history of a wallet that has done nothing yet is one point', async () => {
  const idle = newTrader();
  const { value, history } = await portfolio(idle, 'all');
  expect(history).toEqual([{ t: expect.any(Number), value }]);
  await idle.submit(await newMarket(), limit('BUY', 0, 1_000, 1_000));
  expect((await portfolio(idle, 'all')).history).toHaveLength(1);
});

test('value, cash, orders and profit add up through trades, a grant and a payout', async () => {
  const [alice, bob] = [newTrader(), newTrader()];
  const market = await newMarket();
  await alice.submit(market, limit('BUY', 0, 6_000, 10_000));
  await bob.submit(market, limit('BUY', 1, 4_000, 10_000));
  // The price is now 0.80: another pair of orders trades one share there.
  await alice.submit(market, limit('BUY', 0, 8_000, 100));
  await bob.submit(market, limit('BUY', 1, 2_000, 100));
  await alice.submit(market, limit('BUY', 0, 1_000, 5_000));
  await alice.post('/me/faucet');
  // 100 at 0.60 and 1 at 0.80 are 60.8; at 0.80 they are worth 80.8; 5 are in an order.
  expect(await portfolio(alice)).toMatchObject({
    value: '2020',
    cash: '1934.2',
    reserved: '5',
    positionsValue: '80.8',
    pnl: { total: '20', today: '20' },
  });
  expect(await portfolio(bob)).toMatchObject({ value: '980', pnl: { total: '-20', today: '-20' } });

  await exchange.client.post(`/admin/markets/${market.id}/resolve`, {
    token: ADMIN_TOKEN,
    body: { outcomeIndex: 1 },
  });
  expect(await portfolio(alice)).toMatchObject({
    value: '1939.2',
    positionsValue: '0',
    pnl: { total: '-60.8' },
  });
  expect(await portfolio(bob)).toMatchObject({ value: '1060.8', pnl: { total: '60.8', today: '60.8' } });
});

test('the history of a timeframe begins before the first line, and its last point is now', async () => {
  const alice = newTrader();
  const market = await newMarket();
  await alice.post(`/markets/${market.id}/split`, { size: '10' });
  for (const timeframe of ['1h', '6h', '1d', '1w', '1m', 'all']) {
    const { value, history } = await portfolio(alice, timeframe);
    expect(history.at(-1).value).toBe(value);
    const times = history.map(({ t }: { t: number }) => t);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    // A split changes nothing.
    expect(new Set(history.map((point: { value: string }) => point.value))).toEqual(new Set(['1000']));
  }
  expect((await alice.get('/me/portfolio?timeframe=2d')).body.code).toBe('INVALID_TIMEFRAME');
  expect((await exchange.client.get('/me/portfolio')).status).toBe(401);
});

test('a portfolio is kept for a minute while nothing of it changes', async () => {
  const alice = newTrader();
  const market = await newMarket();
  const { redis, keys } = exchange.store;
  const positions = keys.positions(Buffer.from(alice.address.slice(2), 'hex'));
  const minute = (): number => Math.floor(Date.now() / 60_000);
  await alice.post(`/markets/${market.id}/split`, { size: '10' });
  for (let before = -1; before !== minute(); ) {
    before = minute();
    const first = await portfolio(alice);
    // What it is computed from is away.
    await redis.rename(positions, 'aside');
    const kept = await portfolio(alice);
    if (before === minute()) expect(kept).toEqual(first);
    await redis.rename('aside', positions);
  }
});
