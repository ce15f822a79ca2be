import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectLive, createClient, type Live } from 'ctf-exchange-client';
import { type CcxtExchange, createCcxt } from 'ctf-exchange-client/ccxt';
import { ROOT } from '../support/processes';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';

/**
 * Tests the adapter with a real exchange, by ccxt's manual. In the long form (GENERATORS=1) ccxt itself judges: its types
 * must accept the adapter's structures, and its own functions for each structure must not change them.
 */
const INSTALL_MS_MAX = 600_000;
const isLong = process.env.GENERATORS === '1';

let stage: TypedClients;
let market: OpenMarket;
let maker: CcxtExchange;
let taker: CcxtExchange;
let live: Live;
let yes: string;
let no: string;

beforeAll(async () => {
  stage = await startTypedClients();
  market = await stage.market({ feeRateBps: 200, minOrderSize: '1' });
  const make = async ({ client, wallet }: Trader, more: { live?: Live } = {}) =>
    createCcxt({ client, signer: wallet, ...more });
  const first = await stage.trader();
  live = connectLive({ baseUrl: stage.url(), getToken: first.client.accessToken });
  maker = await make(first, { live });
  taker = await make(await stage.trader());
  [yes, no] = [`${market.slug}.YES/USD`, `${market.slug}.NO/USD`];
});
afterAll(async () => {
  live?.close();
  await stage.stop();
});

/** Of every structure one, as the tests met it, for ccxt to judge. */
const met: Record<string, unknown> = {};

test('an outcome is a spot market with precision, limits and fees', async () => {
  const markets = await maker.loadMarkets();
  expect(Object.keys(markets).sort()).toEqual([no, yes].sort());
  expect(markets[yes]).toMatchObject({
    ...{ id: `${market.id}-0`, base: `${market.slug}.YES`, quote: 'USD', active: true, spot: true },
    ...{ taker: 0.02, maker: 0.02, precision: { amount: 0.01, price: 0.01 } },
    limits: { amount: { min: 1 }, price: { min: 0.01, max: 0.99 }, cost: { min: undefined } },
  });
  met.market = markets[yes];
  expect(await maker.fetchMarkets()).toEqual(Object.values(markets));
  expect([maker.amountToPrecision(yes, 10.019), maker.priceToPrecision(yes, 0.61499)]).toEqual([
    '10.01',
    '0.61',
  ]);
  expect(Math.abs((await maker.fetchTime()) - Date.now())).toBeLessThan(60_000);
  expect(maker.has).toMatchObject({ createOrder: true, watchOrderBook: true, withdraw: false });
});

test('an order is created, watched, listed and cancelled', async () => {
  const watched = maker.watchOrders();
  const book = await maker.watchOrderBook(yes);
  expect([book.bids, book.asks]).toEqual([[], []]);
  const order = await maker.createOrder(yes, 'limit', 'buy', 100, 0.4, {
    clientOrderId: 'first',
    postOnly: true,
  });
  expect(order).toMatchObject({
    ...{ symbol: yes, side: 'buy', type: 'limit', timeInForce: 'PO', postOnly: true, status: 'open' },
    ...{
      price: 0.4,
      amount: 100,
      filled: 0,
      remaining: 100,
      cost: 0,
      clientOrderId: 'first',
      average: undefined,
    },
  });
  expect((await watched)[0]).toMatchObject({ id: order.id, status: 'open' });
  const changed = await maker.watchOrderBook(yes);
  expect([changed.bids, changed.asks, changed.nonce > book.nonce]).toEqual([[[0.4, 100]], [], true]);
  expect(await maker.fetchOpenOrders(yes)).toEqual([order]);
  expect(await maker.fetchOpenOrders(no)).toEqual([]);
  expect(await maker.cancelOrder(order.id)).toMatchObject({ id: order.id, status: 'canceled', remaining: 0 });
  expect((await maker.fetchOrder(order.id)).status).toBe('canceled');
  expect(await maker.fetchOpenOrders()).toEqual([]);
});

test('a trade appears in both outcomes, in own trades with its fee, in candles, tickers and balances', async () => {
  const trades = maker.watchTrades(yes);
  await maker.createOrder(yes, 'limit', 'buy', 50, 0.6);
  const bought = await taker.createOrder(no, 'limit', 'buy', 50, 0.4, { timeInForce: 'IOC' });
  met.order = bought;
  expect(bought).toMatchObject({ status: 'closed', filled: 50, average: 0.4, cost: 20, timeInForce: 'IOC' });
  expect(bought.fee).toEqual({ currency: `${market.slug}.NO`, cost: 1 });
  const [seen] = await trades;
  // The taker bought No at 0.4, which a holder of Yes sees as a sale at 0.6.
  expect(seen).toMatchObject({ symbol: yes, side: 'sell', price: 0.6, amount: 50, cost: 30 });
  const [asNo] = await maker.fetchTrades(no);
  expect(asNo).toMatchObject({ symbol: no, side: 'buy', price: 0.4, cost: 20, takerOrMaker: 'taker' });
  met.trade = asNo;
  const [own] = await maker.fetchMyTrades(yes);
  expect(own).toMatchObject({ symbol: yes, side: 'buy', price: 0.6, takerOrMaker: 'maker' });
  expect(own?.fee).toEqual({ currency: `${market.slug}.YES`, cost: 0.666666 });
  expect(await maker.fetchMyTrades(no)).toEqual([]);
  const candles = await maker.fetchOHLCV(no, '1d', 0, 10);
  met.candle = candles.find(([, , , , , volume]) => volume > 0);
  expect(met.candle).toEqual([expect.any(Number), 0.4, 0.4, 0.4, 0.4, 50]);
  const { [yes]: ticker, [no]: other } = await maker.fetchTickers();
  met.ticker = ticker;
  expect([ticker?.last, other?.last, ticker?.quoteVolume]).toEqual([0.6, 0.4, expect.any(Number)]);
  expect((await maker.fetchTicker(no)).close).toBe(0.4);
  const balance = await taker.fetchBalance();
  expect(balance[`${market.slug}.NO`]).toEqual({ free: 49, used: 0, total: 49 });
  expect(balance.total.USD).toBe(balance.free.USD);
  met.balance = balance;
  await taker.createOrder(no, 'limit', 'sell', 10, 0.7);
  const book = await maker.fetchOrderBook(yes, 5);
  met.orderBook = book;
  // An offer of No at 0.7 is a bid for Yes at 0.3.
  expect([book.bids, book.asks, typeof book.nonce]).toEqual([[[0.3, 10]], [], 'number']);
});

test('errors have the names that ccxt uses', async () => {
  const nameOf = (what: Promise<unknown>): Promise<string> =>
    what.then(
      () => 'nothing',
      (error) => error.name,
    );
  const signerless = createCcxt({ client: createClient({ baseUrl: stage.url() }) });
  expect(
    await Promise.all([
      nameOf(maker.createOrder('none/USD', 'limit', 'buy', 1, 0.5)),
      nameOf(maker.createOrder(yes, 'limit', 'buy', 1e9, 0.5)),
      nameOf(maker.createOrder(yes, 'limit', 'buy', 0, 0.5)),
      nameOf(maker.cancelOrder(`0x${'0'.repeat(64)}`)),
      nameOf(signerless.createOrder(yes, 'limit', 'buy', 1, 0.5)),
      nameOf(signerless.watchOrderBook(yes)),
    ]),
  ).toEqual([
    ...['BadSymbol', 'InsufficientFunds', 'InvalidOrder', 'OrderNotFound'],
    ...['AuthenticationError', 'NotSupported'],
  ]);
});

/** ccxt's types take the adapter's; a program of ccxt's users needs no other ones. */
const TYPED = `
import type { Balances, Market, OHLCV, Order, OrderBook, Ticker, Tickers, Trade } from 'ccxt';
import type { CcxtExchange } from 'ADAPTER';
export async function all(it: CcxtExchange): Promise<void> {
  const markets: Market[] = await it.fetchMarkets();
  const ticker: Ticker = await it.fetchTicker('');
  const tickers: Tickers = await it.fetchTickers();
  // The method of ccxt's own books is not a part of the structure.
  const book: Omit<OrderBook, 'copy'> = await it.fetchOrderBook('');
  const trades: Trade[] = [...(await it.fetchTrades('')), ...(await it.fetchMyTrades()), ...(await it.watchTrades(''))];
  const candles: OHLCV[] = await it.fetchOHLCV('');
  const orders: Order[] = [await it.createOrder('', 'limit', 'buy', 1, 1), ...(await it.watchOrders())];
  const balance: Balances = (await it.fetchBalance()) as Balances;
  console.log(markets, ticker, tickers, book, trades, candles, orders, balance);
}
// @ts-expect-error: the check checks.
export const wrong: Promise<Ticker> = ({} as CcxtExchange).fetchTrades('');
`;
/** ccxt's own functions fill in what is missing; a structure that is whole comes back as it was. */
const JUDGED = `
const ccxt = require('ccxt');
const met = JSON.parse(require('fs').readFileSync('met.json', 'utf8'));
const it = new ccxt.Exchange({ id: 'ctf' });
const market = it.safeMarketStructure(met.market);
it.setMarkets([market]);
const judged = {
  market,
  ticker: it.safeTicker({ ...met.ticker, percentage: undefined }, market),
  trade: it.safeTrade({ ...met.trade }, market),
  order: it.safeOrder({ ...met.order }, market),
  balance: it.safeBalance({ ...met.balance }),
};
const different = [];
for (const [name, whole] of Object.entries(judged)) {
  for (const [key, value] of Object.entries(met[name])) {
    if (['info', 'percentage', 'fees'].includes(key)) continue;
    if (JSON.stringify(whole[key]) !== JSON.stringify(value)) different.push([name, key, value, whole[key]]);
  }
}
console.log(JSON.stringify(different));
`;

(isLong ? test : test.skip)(
  "ccxt's own types and functions take the structures as they are",
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-ccxt-'));
    const run = (...[command = '', ...args]: string[]): string => {
      const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
      expect([status, status === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
      return stdout;
    };
    try {
      writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
      writeFileSync(path.join(folder, 'met.json'), JSON.stringify(met));
      const adapter = path.join(ROOT, 'packages/client/src/ccxt');
      writeFileSync(path.join(folder, 'typed.ts'), TYPED.replace('ADAPTER', adapter));
      run(
        'npm',
        'install',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--fetch-retries=5',
        'ccxt@4',
        'typescript@5.9',
      );
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext'];
      const more = ['--moduleResolution', 'bundler', '--lib', 'es2023,dom'];
      run(path.join(folder, 'node_modules/.bin/tsc'), ...options, ...more, 'typed.ts');
      expect(JSON.parse(run(process.execPath, '-e', JUDGED))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  INSTALL_MS_MAX,
);
