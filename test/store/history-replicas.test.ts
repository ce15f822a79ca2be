import { createCandleWriter } from '../../src/store/candles/writer';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { openStore, type Store } from './trading';

const TRADES = 30;
let exchange: WebReplicas;
let store: Store;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  store = await openStore(exchange.redis.url);
});
afterAll(async () => {
  store.stop();
  await exchange.stop();
});

test('after an answer every replica shows its price and volume, with and without a worker', async () => {
  const [a, b] = exchange.replicas as [(typeof exchange.replicas)[0], (typeof exchange.replicas)[0]];
  const market = await openMarket(a.client, ADMIN_TOKEN);
  const domain = await domainOf(a.client);
  const [maker, taker] = [createTrader(a.client, domain), createTrader(b.client, domain)];
  const writer = createCandleWriter(store);
  for (let i = 1; i <= TRADES; i++) {
    const pips = 4_000 + 100 * (i % 20);
    await maker.submit(market, { side: 'BUY', outcome: 1, pips: 10_000 - pips, lots: 100 });
    const taken = await taker.submit(market, { side: 'BUY', outcome: 0, pips, lots: 100 });
    expect(taken.body).toMatchObject({ status: 'FILLED' });
    // The worker is away in the first third, counts in between in the second, and at the same time in the last.
    const work = i > (2 * TRADES) / 3 ? writer.extend(market.id) : null;
    for (const { client } of i % 2 === 0 ? [a, b] : [b, a]) {
      const [history, shown, ticker] = await Promise.all(
        ['/price-history?timeframe=1h', '', '/ticker'].map((path) =>
          client.get(`/markets/${market.id}${path}`),
        ),
      );
      const candles = history?.body.candles as { v: string; c: string }[];
      const volume = candles.reduce((sum, { v }) => sum + Math.round(Number(v) * 1e6), 0);
      expect(candles.at(-1)?.c).toBe(shown?.body.lastTradePrice);
      expect(volume).toBe(Math.round(Number(shown?.body.volume) * 1e6));
      expect(shown?.body.volume24h).toBe(shown?.body.volume);
      expect(ticker?.body.outcomes[0]).toMatchObject({ volume24h: shown?.body.volume });
      expect(shown?.body.openInterest).toBe(String(i));
    }
    await work;
    if (i > TRADES / 3) await writer.extend(market.id);
  }
});
