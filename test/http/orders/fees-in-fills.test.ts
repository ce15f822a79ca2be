import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let market: Market;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas();
  const domain = await domainOf(exchange.client);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  market = await openMarket(exchange.client, ADMIN_TOKEN, { feeRateBps: 200 });
  for (const trader of [alice, bob]) await trader.post(`/markets/${market.id}/split`, { size: '100' });
});
afterAll(() => exchange.stop());

const balances = async (trader: Trader): Promise<Record<string, number>> => {
  const { collateral, tokens } = (await trader.get('/me/balances')).body;
  const held = (index: number): number =>
    Number(tokens.find((row: { outcomeIndex: number }) => row.outcomeIndex === index)?.total ?? 0);
  return { COLLATERAL: Number(collateral.total), YES: held(0), NO: held(1) };
};

test.each([
  ['BUY', 0, 'YES'],
  ['BUY', 1, 'NO'],
  ['SELL', 0, 'COLLATERAL'],
  ['SELL', 1, 'COLLATERAL'],
] as const)(
  'the fills of a %s of outcome %d say what fee was taken, and in %s',
  async (side, outcome, asset) => {
    const other = side === 'BUY' ? 'SELL' : 'BUY';
    const more = { more: { feeRateBps: '200' } };
    await bob.submit(market, limit(other, outcome, 4_000, 1_000), more);
    const before = await balances(alice);
    const { body } = await alice.submit(market, limit(side, outcome, 4_000, 1_000), more);
    expect(body).toMatchObject({ fills: [expect.anything()] });
    const [{ fee, feeAsset }] = body.fills;
    expect(feeAsset).toBe(asset);
    expect(Number(fee)).toBeGreaterThan(0);
    const after = await balances(alice);
    const sign = side === 'BUY' ? 1 : -1;
    const [tokens, paid] = [10 * sign, -4 * sign];
    const token = outcome === 0 ? 'YES' : 'NO';
    const expected = {
      [token]: tokens - (asset === token ? Number(fee) : 0),
      COLLATERAL: paid - (asset === 'COLLATERAL' ? Number(fee) : 0),
    };
    for (const [name, change] of Object.entries(expected)) {
      expect((after[name] ?? 0) - (before[name] ?? 0)).toBeCloseTo(change, 6);
    }
    const hash = body.orderHash;
    const shown = [
      (await exchange.client.get(`/orders/${hash}`)).body.fills[0],
      (await exchange.client.get(`/orders/${hash}/fills`)).body.data[0],
      (await alice.get('/me/trades?limit=1')).body.data[0].own,
      (await alice.get('/me/activity?limit=1')).body.data[0],
    ];
    expect(shown.map((row) => [row.fee, row.feeAsset])).toEqual(Array(4).fill([fee, asset]));
    // Sent again, the same.
    const signed = (await alice.get(`/orders/${hash}`)).body.order;
    const again = await exchange.client.post(`/markets/${market.id}/orders`, { body: { order: signed } });
    expect(again.body.fills).toEqual(body.fills);
  },
);
