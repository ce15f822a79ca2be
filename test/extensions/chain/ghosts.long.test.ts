import { type ChainExchange, type ChainTrader, startChainExchange } from '../../support/chain-exchange';
import { patiently } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { type OpenMarket, openMarket } from '../../support/trader';
import { until as waitUntil } from '../../support/waiting';

/**
 * One stake goes through wallets that cost nothing: each orders against resting orders and sends the stake on before its match
 * settles. On a local chain, with the limits of production.
 */
let exchange: ChainExchange;
let market: OpenMarket;
let victim: ChainTrader;
let thieves: ChainTrader[] = [];

const LOTS = 10_000;
const PIPS = 6_000;
const until: typeof waitUntil = (what, holds) => waitUntil(what, holds, { pollMs: 200 });
const balancesOf = async (trader: ChainTrader) => (await trader.get('/me/balances')).body;
const submit = async (trader: ChainTrader, limit: Parameters<ChainTrader['order']>[1]) => {
  const body = { order: await trader.order(market, limit) };
  return patiently(() => exchange.client.post(`/markets/${market.id}/orders`, { body }));
};
/** The order is refused until the funds of the wallet have stayed long enough. */
async function submitWhenAged(trader: ChainTrader, limit: Parameters<ChainTrader['order']>[1]) {
  let answer = await submit(trader, limit);
  expect(answer.body).toMatchObject({ code: 'UNSETTLED_LIMIT', scope: 'FRESH_FUNDS', limit: '20' });
  await until('the funds have stayed long enough', async () => {
    answer = await submit(trader, limit);
    return answer.status === 200 || answer.status === 201;
  });
  return answer.body;
}

beforeAll(async () => {
  exchange = await startChainExchange({ FRESH_FUNDS_MAX: '20', UNSETTLED_MAX_NEW: '100' });
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  victim = await exchange.newTrader();
  thieves = await Promise.all([1, 2].map(() => exchange.newTrader()));
  const { chain } = (await exchange.client.get('/config')).body;
  const all = [victim, ...thieves];
  for (const trader of all) await patiently(() => trader.post('/me/faucet'));
  await until(
    'the market is open',
    async () => (await exchange.client.get(`/markets/${market.id}`)).body.status === 'OPEN',
  );
  for (const trader of all) {
    await until('the faucet has paid', async () => (await balancesOf(trader)).collateral.total === '10000');
    await trader.send(chain.approvals);
    await until(
      'the approvals are final',
      async () => (await balancesOf(trader)).approvals.conditionalTokens.approved,
    );
  }
  await victim.send((await victim.post(`/markets/${market.id}/split`, { size: '300' })).body.calls);
  await until('the tokens are final', async () => (await balancesOf(victim)).tokens.length === 2);
});
afterAll(() => exchange?.stop());

test('the liquidity of the victim is on the book in the end, and the stake must rest in each wallet first', async () => {
  const { contracts } = (await exchange.client.get('/config')).body;
  const sale = await submitWhenAged(victim, { side: 'SELL', outcome: 0, pips: PIPS, lots: LOTS });
  const [first, second] = thieves as [ChainTrader, ChainTrader];
  const ghost = { side: 'BUY', outcome: 0, pips: PIPS, lots: LOTS } as const;
  const orderOf = async (trader: ChainTrader, hash: string) => (await trader.get(`/orders/${hash}`)).body;

  /** Orders, sends all collateral on while nothing is settled, and waits until the match has failed. */
  async function haunt(
    thief: ChainTrader,
    to: ChainTrader,
    order: () => Promise<{ orderHash: string; status: string }>,
  ) {
    const bought = await order();
    expect(bought.status).toBe('FILLED');
    const { total } = (await balancesOf(thief)).collateral;
    const words = [to.wallet.address.slice(2), (BigInt(total) * 10n ** 18n).toString(16)];
    const data = `0xa9059cbb${words.map((word) => word.padStart(64, '0')).join('')}`;
    await thief.send([{ to: contracts.collateral, data }]);
    await exchange.shell.exchange('chain', 'resume');
    await until(
      'the match has failed',
      async () => (await orderOf(thief, bought.orderHash)).fills[0].settlementStatus === 'FAILED',
    );
    const back = await orderOf(victim, sale.orderHash);
    expect(back).toMatchObject({
      status: 'OPEN',
      reason: 'SETTLEMENT_FAILED',
      filledSize: '0',
      remainingSize: '100',
    });
    expect((await submit(thief, ghost)).body).toMatchObject({ code: 'WALLET_SUSPENDED' });
  }

  await haunt(first, second, async () => {
    const { orderHash } = await submitWhenAged(first, { ...ghost, pips: 5_000 });
    await first.post('/orders/cancel', { orderHashes: [orderHash] });
    await exchange.shell.exchange('chain', 'pause');
    return (await submit(first, ghost)).body;
  });
  // The stake has come to the second wallet, where it counts no more than any other fresh funds.
  await until(
    'the stake has arrived',
    async () => Number((await balancesOf(second)).collateral.total) > 15_000,
  );
  expect((await submit(second, ghost)).body).toMatchObject({
    code: 'UNSETTLED_LIMIT',
    scope: 'FRESH_FUNDS',
    limit: '20',
  });
  await haunt(second, first, async () => {
    await exchange.shell.exchange('chain', 'pause');
    return (await submit(second, { ...ghost, lots: LOTS / 4 })).body;
  });
  const book = (await exchange.client.get(`/markets/${market.id}/orderbook`)).body;
  expect(book.asks).toEqual([{ price: '0.6', size: '100', orders: 1 }]);
  // No share was traded.
  const { volume, lastTradePrice } = (await exchange.client.get(`/markets/${market.id}`)).body;
  expect([volume, lastTradePrice]).toEqual(['0', null]);
});
