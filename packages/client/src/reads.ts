import type { ExchangeError } from './errors';
import type { Sessions } from './sessions';
import { persist, type Send } from './transport';
import type {
  Category,
  ExchangeConfig,
  Market,
  MarketsQuery,
  Orderbook,
  Page,
  PageQuery,
  Period,
  PriceHistory,
  Ticker,
  Timeframe,
  Trade,
  Trading,
} from './types';
import type { Comment, Order, OrderFill, Profile } from './types-account';
import type { Candles, CandlesQuery } from './types-data';

/** Longest after the first attempt that another one begins. */
export const READ_MS_MAX = 10_000;

/** Asking again changes nothing. */
export const isWorthAnother = (error: ExchangeError): boolean =>
  error.retryable && error.code !== 'NOT_SIGNED_IN';

const marketPath = (id: string, view = ''): string => `/markets/${encodeURIComponent(id)}${view}`;

/** Everything anybody may see. `id` of a market is its id, its slug or its condition id. */
export function createReads(send: Send, sessions: Sessions) {
  const get = async <T>(path: string, query: object = {}): Promise<T> =>
    (await persist(() => send<T>({ method: 'GET', path, query }), isWorthAnother, READ_MS_MAX)).body;

  return {
    config: () => get<ExchangeConfig>('/config'),
    time: () => get<{ readonly timestamp: number }>('/time'),
    markets: (query: MarketsQuery = {}) => get<Page<Market>>('/markets', query),
    categories: async () => (await get<{ readonly data: readonly Category[] }>('/categories')).data,
    market: (id: string) => get<Market>(marketPath(id)),
    trading: (id: string) => get<Trading>(marketPath(id, '/trading')),
    orderbook: (id: string, query: { readonly depth?: number | undefined } = {}) =>
      get<Orderbook>(marketPath(id, '/orderbook'), query),
    ticker: (id: string) => get<Ticker>(marketPath(id, '/ticker')),
    priceHistory: (id: string, timeframe?: Timeframe) =>
      get<PriceHistory>(marketPath(id, '/price-history'), { timeframe }),
    candles: (id: string, query: CandlesQuery = {}) => get<Candles>(marketPath(id, '/candles'), query),
    /** Of at most 50 markets, in the order of `ids`. */
    orderbooks: async (ids: readonly string[], query: { readonly depth?: number | undefined } = {}) =>
      (await get<{ readonly data: readonly Orderbook[] }>('/orderbooks', { ids: ids.join(), ...query })).data,
    /** Of at most 50 markets, in the order of `ids`. */
    tickers: async (ids: readonly string[]) =>
      (await get<{ readonly data: readonly Ticker[] }>('/tickers', { ids: ids.join() })).data,
    trades: (id: string, query: PageQuery & Period = {}) =>
      get<Page<Trade>>(marketPath(id, '/trades'), query),
    /** With the signed struct when it is the signed-in wallet's own. */
    order: async (orderHash: string): Promise<Order> => {
      const request = { method: 'GET', path: `/orders/${encodeURIComponent(orderHash)}` } as const;
      const ask = () => (sessions.current() ? sessions.authorized<Order>(request) : send<Order>(request));
      return (await persist(ask, isWorthAnother, READ_MS_MAX)).body;
    },
    /** Newest first. */
    orderFills: (orderHash: string, query: PageQuery = {}) =>
      get<Page<OrderFill>>(`/orders/${encodeURIComponent(orderHash)}/fills`, query),
    profile: (address: string) => get<Profile>(`/profiles/${encodeURIComponent(address)}`),
    comments: (id: string, query: PageQuery = {}) => get<Page<Comment>>(marketPath(id, '/comments'), query),
  };
}

/** Every row of a list, page by page: `for await (const trade of walk((cursor) => client.trades(id, { cursor })))`. */
export async function* walk<T>(page: (cursor: string | null) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const { data, nextCursor }: Page<T> = await page(cursor);
    yield* data;
    cursor = nextCursor;
  } while (cursor !== null);
}
