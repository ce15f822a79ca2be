import { named } from './ccxt-errors';
import {
  balancesOf,
  baseOf,
  type Listed,
  marketOf,
  orderBookOf,
  orderOf,
  ownTradeOf,
  symbolOf,
  tickerOf,
  tradeOf,
} from './ccxt-parse';
import { ascending, decimal, orderTypeOf, translated } from './ccxt-shape';
import type {
  CcxtBalances,
  CcxtCandle,
  CcxtMarket,
  CcxtOptions,
  CcxtOrder,
  CcxtOrderBook,
  CcxtTicker,
  CcxtTrade,
  OrderParams,
} from './ccxt-types';
import { createWatching } from './ccxt-watch';
import type { NewOrder } from './orders';
import type { Market, Page } from './types';
import type { Order } from './types-account';
import type { CandleInterval } from './types-data';

export type * from './ccxt-types';

const TICKERS_MAX = 50;
const MARKETS_PAGE = 100;
const ROWS_USUAL = 100;
const SHARE_DECIMALS = 2;
const PIPS = 10_000;

/**
 * The exchange with the interface of a ccxt exchange: its method names, arguments, structures and error names. An outcome
 * of a market is a spot market, `rain-tomorrow.YES/USD`. It uses a given client, and makes no connection of its own.
 */
export interface CcxtExchange {
  readonly id: 'ctf';
  readonly has: Readonly<Record<string, boolean>>;
  readonly timeframes: Readonly<Record<CandleInterval, CandleInterval>>;
  fetchTime(): Promise<number>;
  fetchMarkets(): Promise<CcxtMarket[]>;
  /** By symbol; requested again with `reload`. */
  loadMarkets(reload?: boolean): Promise<Readonly<Record<string, CcxtMarket>>>;
  fetchTicker(symbol: string): Promise<CcxtTicker>;
  fetchTickers(symbols?: readonly string[]): Promise<Record<string, CcxtTicker>>;
  fetchOrderBook(symbol: string, limit?: number): Promise<CcxtOrderBook>;
  fetchTrades(symbol: string, since?: number, limit?: number): Promise<CcxtTrade[]>;
  fetchOHLCV(
    symbol: string,
    timeframe?: CandleInterval,
    since?: number,
    limit?: number,
  ): Promise<CcxtCandle[]>;
  fetchBalance(): Promise<CcxtBalances>;
  createOrder(
    symbol: string,
    type: 'limit' | 'market',
    side: 'buy' | 'sell',
    amount: number,
    price?: number,
    params?: OrderParams,
  ): Promise<CcxtOrder>;
  cancelOrder(id: string, symbol?: string): Promise<CcxtOrder>;
  fetchOrder(id: string, symbol?: string): Promise<CcxtOrder>;
  fetchOpenOrders(symbol?: string, since?: number, limit?: number): Promise<CcxtOrder[]>;
  fetchMyTrades(symbol?: string, since?: number, limit?: number): Promise<CcxtTrade[]>;
  /** The book after its next change; the first call returns the present one. */
  watchOrderBook(symbol: string, limit?: number): Promise<CcxtOrderBook>;
  /** The trades since the call before, at least one. */
  watchTrades(symbol: string): Promise<CcxtTrade[]>;
  /** The orders that changed since the call before, at least one. */
  watchOrders(symbol?: string): Promise<CcxtOrder[]>;
  amountToPrecision(symbol: string, amount: number): string;
  priceToPrecision(symbol: string, price: number): string;
}

const METHODS = [
  ...[
    'fetchTime',
    'fetchMarkets',
    'fetchTicker',
    'fetchTickers',
    'fetchOrderBook',
    'fetchTrades',
    'fetchOHLCV',
  ],
  ...['fetchBalance', 'createOrder', 'cancelOrder', 'fetchOrder', 'fetchOpenOrders', 'fetchMyTrades'],
  ...['watchOrderBook', 'watchTrades', 'watchOrders'],
];
const TIMEFRAMES = { '1m': '1m', '5m': '5m', '15m': '15m', '1h': '1h', '4h': '4h', '1d': '1d' } as const;

export function createCcxt({ client, live, signer }: CcxtOptions): CcxtExchange {
  const bySymbol = new Map<string, Listed>();
  let loaded: Promise<void> | null = null;

  async function load(): Promise<void> {
    let cursor: string | null = null;
    bySymbol.clear();
    do {
      const page: Page<Market> = await client.markets({ limit: MARKETS_PAGE, cursor, sort: 'createdAt' });
      for (const market of page.data) {
        for (const outcome of [0, 1] as const) {
          bySymbol.set(symbolOf({ market, outcome }), { market, outcome });
        }
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  async function ready(reload = false): Promise<void> {
    if (reload) loaded = null;
    loaded ??= load().catch((error) => {
      loaded = null;
      throw error;
    });
    await loaded;
  }

  const find = (symbol: string): Listed => {
    const listed = bySymbol.get(symbol);
    if (!listed) throw named('BadSymbol', `there is no market ${symbol}; call loadMarkets`);
    return listed;
  };

  async function listedOf(symbol: string): Promise<Listed> {
    await ready();
    return find(symbol);
  }

  /** The symbol of an order or a trade; an unknown market is requested. */
  async function listedAt(marketId: string, outcome: 0 | 1): Promise<Listed> {
    await ready();
    for (const listed of bySymbol.values()) {
      if (listed.market.id === marketId && listed.outcome === outcome) return listed;
    }
    return { market: await client.market(marketId), outcome };
  }

  const parsed = async (order: Order): Promise<CcxtOrder> =>
    orderOf(await listedAt(order.marketId, order.outcomeIndex), order);

  const amountToPrecision = (symbol: string, amount: number): string => {
    const lot = Math.round(Number(find(symbol).market.lotSize) * 10 ** SHARE_DECIMALS);
    const lots = Math.floor(Number((amount * 10 ** SHARE_DECIMALS).toFixed(4)) / lot) * lot;
    return decimal(lots, SHARE_DECIMALS);
  };
  const priceToPrecision = (symbol: string, price: number): string => {
    const tick = Math.round(Number(find(symbol).market.tickSize) * PIPS);
    return decimal(Math.round((price * PIPS) / tick) * tick, 4);
  };

  async function createOrder(
    symbol: string,
    type: 'limit' | 'market',
    side: 'buy' | 'sell',
    amount: number,
    price?: number,
    params: OrderParams = {},
  ): Promise<CcxtOrder> {
    const { market, outcome } = await listedOf(symbol);
    if (!signer) throw named('AuthenticationError', 'createOrder needs the `signer` of the options');
    const order: NewOrder = {
      outcomeIndex: outcome,
      side: side === 'buy' ? 'BUY' : 'SELL',
      orderType: orderTypeOf(type, params),
      size: amountToPrecision(symbol, amount),
      ...(price === undefined ? {} : { price: priceToPrecision(symbol, price) }),
      ...(params.cost === undefined ? {} : { budget: String(params.cost) }),
    };
    const { clientOrderId, selfTradePrevention } = params;
    const placed = await client.placeOrder(signer, market.id, order, { clientOrderId, selfTradePrevention });
    return parsed(await client.order(placed.orderHash));
  }

  async function fetchOHLCV(
    symbol: string,
    timeframe: CandleInterval = '1m',
    since?: number,
    limit = ROWS_USUAL,
  ): Promise<CcxtCandle[]> {
    const { market, outcome } = await listedOf(symbol);
    const from = since === undefined ? undefined : Math.ceil(since / 1_000);
    const query = { interval: timeframe, outcomeIndex: outcome, from, limit };
    const { candles } = await client.candles(market.id, query);
    return candles.map(({ t, o, h, l, c, v }) => [t * 1_000, ...([o, h, l, c, v].map(Number) as Five)]);
  }

  async function fetchTickers(symbols?: readonly string[]): Promise<Record<string, CcxtTicker>> {
    await ready();
    const wanted = symbols ? symbols.map(find) : [...bySymbol.values()];
    const ids = [...new Set(wanted.map(({ market }) => market.id))];
    const tickers: Record<string, CcxtTicker> = {};
    for (let from = 0; from < ids.length; from += TICKERS_MAX) {
      for (const ticker of await client.tickers(ids.slice(from, from + TICKERS_MAX))) {
        for (const listed of wanted.filter(({ market }) => market.id === ticker.marketId)) {
          tickers[symbolOf(listed)] = tickerOf(listed, ticker);
        }
      }
    }
    return tickers;
  }

  const watching = createWatching({ client, live, listedOf, parsed });
  const exchange: Omit<CcxtExchange, 'id' | 'has' | 'timeframes' | 'amountToPrecision' | 'priceToPrecision'> =
    {
      fetchTime: async () => (await client.time()).timestamp,
      fetchMarkets: async () => {
        await ready(true);
        return [...bySymbol.values()].map(marketOf);
      },
      loadMarkets: async (reload) => {
        await ready(reload);
        return Object.fromEntries([...bySymbol].map(([symbol, listed]) => [symbol, marketOf(listed)]));
      },
      fetchTicker: async (symbol) => {
        const listed = await listedOf(symbol);
        return tickerOf(listed, await client.ticker(listed.market.id));
      },
      fetchTickers,
      fetchOrderBook: async (symbol, limit) => {
        const listed = await listedOf(symbol);
        const { outcomes, sequence, timestamp } = await client.orderbook(listed.market.id, { depth: limit });
        const own = outcomes[listed.outcome] ?? { bids: [], asks: [] };
        return orderBookOf(listed, own, { nonce: sequence, timestamp });
      },
      fetchTrades: async (symbol, since, limit) => {
        const listed = await listedOf(symbol);
        const order = since === undefined ? 'desc' : 'asc';
        const { data } = await client.trades(listed.market.id, { since, limit, order });
        return ascending(data.map((trade) => tradeOf(listed, trade)));
      },
      fetchOHLCV,
      fetchBalance: async () => {
        const balances = await client.balances();
        const codes = new Map<string, string>();
        for (const { marketId, outcomeIndex, tokenId } of balances.tokens) {
          codes.set(tokenId, baseOf(await listedAt(marketId, outcomeIndex)));
        }
        return balancesOf(balances, ({ tokenId }) => codes.get(tokenId) ?? tokenId);
      },
      createOrder,
      cancelOrder: async (id) => {
        await client.cancel(id);
        return parsed(await client.order(id));
      },
      fetchOrder: async (id) => parsed(await client.order(id)),
      fetchOpenOrders: async (symbol, since, limit) => {
        const listed = symbol === undefined ? undefined : await listedOf(symbol);
        const { data } = await client.orders({ status: 'open', marketId: listed?.market.id, limit });
        const own = data.filter(({ outcomeIndex }) => !listed || outcomeIndex === listed.outcome);
        const orders = await Promise.all(own.map(parsed));
        return ascending(orders.filter(({ timestamp }) => timestamp >= (since ?? 0)));
      },
      fetchMyTrades: async (symbol, since, limit) => {
        const listed = symbol === undefined ? undefined : await listedOf(symbol);
        const order = since === undefined ? 'desc' : 'asc';
        const { data } = await client.myTrades({ marketId: listed?.market.id, since, limit, order });
        const own = data.filter((trade) => !listed || trade.own.outcomeIndex === listed.outcome);
        return ascending(
          await Promise.all(
            own.map(async (trade) =>
              ownTradeOf(await listedAt(trade.marketId, trade.own.outcomeIndex), trade),
            ),
          ),
        );
      },
      ...watching,
    };
  return {
    id: 'ctf',
    has: { ...Object.fromEntries(METHODS.map((name) => [name, true])), fetchStatus: false, withdraw: false },
    timeframes: TIMEFRAMES,
    ...translated(exchange),
    amountToPrecision,
    priceToPrecision,
  };
}

type Five = [number, number, number, number, number];
