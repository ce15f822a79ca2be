import { type ExchangeError, REQUEST_TIMEOUT, SERVER_ERROR } from './errors';
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
import type { Candles, CandlesQuery, MarketEvent, ProgramVersion } from './types-data';

/** The latest time after the first attempt at which another begins. */
export const READ_MS_MAX = 10_000;
/** Statuses below 500 that say nothing about what was asked for. */
const AGAIN: ReadonlySet<number> = new Set([REQUEST_TIMEOUT, 429]);

/**
 * A read changes nothing, so it is safe to repeat. Another refusal that is `retryable` waits for the market or the wallet, which
 * may take any time.
 */
export const isWorthAnother = ({ status, code, retryable }: ExchangeError): boolean =>
  retryable && code !== 'NOT_SIGNED_IN' && (status === 0 || AGAIN.has(status) || status >= SERVER_ERROR);

const marketPath = (id: string, view = ''): string => `/markets/${encodeURIComponent(id)}${view}`;

interface Depth {
  readonly depth?: number | undefined;
}

/** The reads that need no session. The `id` of a market is its id, its slug or its condition id. */
export interface Reads {
  config(): Promise<ExchangeConfig>;
  time(): Promise<{ readonly timestamp: number }>;
  version(): Promise<ProgramVersion>;
  markets(query?: MarketsQuery): Promise<Page<Market>>;
  event(slug: string): Promise<MarketEvent>;
  categories(): Promise<readonly Category[]>;
  market(id: string): Promise<Market>;
  trading(id: string): Promise<Trading>;
  orderbook(id: string, query?: Depth): Promise<Orderbook>;
  ticker(id: string): Promise<Ticker>;
  priceHistory(id: string, timeframe?: Timeframe): Promise<PriceHistory>;
  candles(id: string, query?: CandlesQuery): Promise<Candles>;
  /** For at most 50 markets, in the order of `ids`. */
  orderbooks(ids: readonly string[], query?: Depth): Promise<readonly Orderbook[]>;
  /** For at most 50 markets, in the order of `ids`. */
  tickers(ids: readonly string[]): Promise<readonly Ticker[]>;
  trades(id: string, query?: PageQuery & Period): Promise<Page<Trade>>;
  /** Includes the signed struct if the order belongs to the signed-in wallet. */
  order(orderHash: string): Promise<Order>;
  /** Newest first. */
  orderFills(orderHash: string, query?: PageQuery): Promise<Page<OrderFill>>;
  profile(address: string): Promise<Profile>;
  comments(id: string, query?: PageQuery): Promise<Page<Comment>>;
}

export function createReads(send: Send, sessions: Sessions): Reads {
  const get = async <T>(path: string, query: object = {}): Promise<T> =>
    (await persist(() => send<T>({ method: 'GET', path, query }), isWorthAnother, READ_MS_MAX)).body;
  /** A list without pages. */
  const all = async <T>(path: string, query?: object): Promise<readonly T[]> =>
    (await get<{ readonly data: readonly T[] }>(path, query)).data;

  return {
    config: () => get('/config'),
    time: () => get('/time'),
    version: () => get('/version'),
    markets: (query) => get('/markets', query),
    event: (slug) => get(`/events/${encodeURIComponent(slug)}`),
    categories: () => all('/categories'),
    market: (id) => get(marketPath(id)),
    trading: (id) => get(marketPath(id, '/trading')),
    orderbook: (id, query) => get(marketPath(id, '/orderbook'), query),
    ticker: (id) => get(marketPath(id, '/ticker')),
    priceHistory: (id, timeframe) => get(marketPath(id, '/price-history'), { timeframe }),
    candles: (id, query) => get(marketPath(id, '/candles'), query),
    orderbooks: (ids, query) => all('/orderbooks', { ids: ids.join(), ...query }),
    tickers: (ids) => all('/tickers', { ids: ids.join() }),
    trades: (id, query) => get(marketPath(id, '/trades'), query),
    order: async (orderHash) => {
      const request = { method: 'GET', path: `/orders/${encodeURIComponent(orderHash)}` } as const;
      const ask = () => (sessions.current() ? sessions.authorized<Order>(request) : send<Order>(request));
      return (await persist(ask, isWorthAnother, READ_MS_MAX)).body;
    },
    orderFills: (orderHash, query) => get(`/orders/${encodeURIComponent(orderHash)}/fills`, query),
    profile: (address) => get(`/profiles/${encodeURIComponent(address)}`),
    comments: (id, query) => get(marketPath(id, '/comments'), query),
  };
}

/** All rows of a list, page by page: `for await (const trade of walk((cursor) => client.trades(id, { cursor })))`. */
export async function* walk<T>(page: (cursor: string | null) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const { data, nextCursor }: Page<T> = await page(cursor);
    yield* data;
    cursor = nextCursor;
  } while (cursor !== null);
}
