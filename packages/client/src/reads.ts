import { type ExchangeError, REQUEST_TIMEOUT, SERVER_ERROR } from './errors';
import { checkQuery, text } from './input';
import type { Sessions } from './sessions';
import { persist, type Send } from './transport';
import type {
  Category,
  ExchangeConfig,
  Market,
  MarketsQuery,
  Orderbook,
  OutcomeIndex,
  Page,
  PageQuery,
  Period,
  PriceHistory,
  Ticker,
  Timeframe,
  Trade,
  Trading,
} from './types';
import type {
  Comment,
  Holders,
  Leaderboard,
  MarketTrade,
  Order,
  OrderFill,
  Position,
  PositionsQuery,
  Profile,
} from './types-account';
import type { Candles, CandlesQuery, MarketEvent, ProgramVersion } from './types-data';
import type { Portfolio } from './types-portfolio';

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

/** A part of a path; a missing one must not become "undefined". */
export function partOf(id: string, name = 'id'): string {
  text(id, name);
  return encodeURIComponent(id);
}

const marketPath = (id: string, view = ''): string => `/markets/${partOf(id)}${view}`;
const profilePath = (address: string, view = ''): string => `/profiles/${partOf(address, 'address')}${view}`;

export const PAGE = ['limit', 'cursor'];
export const POSITIONS = [...PAGE, 'status', 'marketId'];
const DEPTH = ['depth'];
const MARKETS = [...PAGE, 'status', 'category', 'tag', 'q', 'sort'];
const CANDLES = ['interval', 'from', 'to', 'outcomeIndex', 'limit'];
export const PERIOD = [...PAGE, 'since', 'until', 'order'];

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
  /** Reads at most 50 markets, in the order of `ids`. */
  orderbooks(ids: readonly string[], query?: Depth): Promise<readonly Orderbook[]>;
  /** Reads at most 50 markets, in the order of `ids`. */
  tickers(ids: readonly string[]): Promise<readonly Ticker[]>;
  trades(id: string, query?: PageQuery & Period): Promise<Page<Trade>>;
  /** The largest holders of an outcome, 0 when it is left out. */
  holders(id: string, query?: { readonly outcomeIndex?: OutcomeIndex }): Promise<Holders>;
  /** The trades of a market with their wallets, newest first. */
  marketActivity(id: string, query?: PageQuery): Promise<Page<MarketTrade>>;
  /** Includes the signed struct if the order belongs to the signed-in wallet. */
  order(orderHash: string): Promise<Order>;
  /** Newest first. */
  orderFills(orderHash: string, query?: PageQuery): Promise<Page<OrderFill>>;
  profile(address: string): Promise<Profile>;
  /** FORBIDDEN, as for its portfolio, unless the wallet lets everybody read them. */
  positionsOf(address: string, query?: PositionsQuery): Promise<Page<Position>>;
  portfolioOf(address: string, timeframe?: Timeframe): Promise<Portfolio>;
  /** The current week, of the wallets that let everybody read their portfolio. */
  leaderboard(query?: { readonly limit?: number }): Promise<Leaderboard>;
  comments(id: string, query?: PageQuery): Promise<Page<Comment>>;
}

/** A read does not wait for an exchange that is not there. */
export const isWorthAnotherRead = (error: ExchangeError): boolean =>
  error.code !== 'NOT_SENT' && isWorthAnother(error);

export function createReads(send: Send, sessions: Sessions, signal?: AbortSignal): Reads {
  const get = async <T>(path: string, query: object = {}, names: readonly string[] = []): Promise<T> => {
    checkQuery(query, names);
    const ask = () => send<T>({ method: 'GET', path, query });
    return (await persist(ask, isWorthAnotherRead, READ_MS_MAX, signal)).body;
  };
  /** A list without pages. */
  const all = async <T>(path: string, query?: object, names?: readonly string[]): Promise<readonly T[]> =>
    (await get<{ readonly data: readonly T[] }>(path, query, names)).data;
  /** Reads at most 50 markets. */
  const several = async <T>(
    path: string,
    ids: readonly string[],
    query: object = {},
  ): Promise<readonly T[]> => {
    if (!Array.isArray(ids)) throw new TypeError('ids must be an array');
    for (const id of ids) text(id, 'id');
    return all(path, { ids: ids.join(), ...query }, ['ids', ...DEPTH]);
  };

  return {
    config: () => get('/config'),
    time: () => get('/time'),
    version: () => get('/version'),
    markets: (query) => get('/markets', query, MARKETS),
    event: async (slug) => get(`/events/${partOf(slug, 'slug')}`),
    categories: () => all('/categories'),
    market: async (id) => get(marketPath(id)),
    trading: async (id) => get(marketPath(id, '/trading')),
    orderbook: async (id, query) => get(marketPath(id, '/orderbook'), query, DEPTH),
    ticker: async (id) => get(marketPath(id, '/ticker')),
    priceHistory: async (id, timeframe) =>
      get(marketPath(id, '/price-history'), { timeframe }, ['timeframe']),
    candles: async (id, query) => get(marketPath(id, '/candles'), query, CANDLES),
    orderbooks: (ids, query) => several('/orderbooks', ids, query),
    tickers: (ids) => several('/tickers', ids),
    trades: async (id, query) => get(marketPath(id, '/trades'), query, PERIOD),
    holders: async (id, query) => get(marketPath(id, '/holders'), query, ['outcomeIndex']),
    marketActivity: async (id, query) => get(marketPath(id, '/activity'), query, PAGE),
    order: async (orderHash) => {
      const request = { method: 'GET', path: `/orders/${partOf(orderHash, 'orderHash')}` } as const;
      const ask = () => (sessions.current() ? sessions.authorized<Order>(request) : send<Order>(request));
      return (await persist(ask, isWorthAnotherRead, READ_MS_MAX, signal)).body;
    },
    orderFills: async (orderHash, query) =>
      get(`/orders/${partOf(orderHash, 'orderHash')}/fills`, query, PAGE),
    profile: async (address) => get(profilePath(address)),
    positionsOf: async (address, query) => get(profilePath(address, '/positions'), query, POSITIONS),
    portfolioOf: async (address, timeframe) =>
      get(profilePath(address, '/portfolio'), { timeframe }, ['timeframe']),
    leaderboard: (query) => get('/leaderboard', query, ['limit']),
    comments: async (id, query) => get(marketPath(id, '/comments'), query, PAGE),
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
