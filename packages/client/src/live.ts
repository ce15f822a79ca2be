import { type BookSides, viewOf } from './book';
import type { ExchangeError } from './errors';
import { createFollowedBook, type FollowedBook } from './followed-book';
import type { LiveState } from './following';
import { baseUrl, checkMembers, flag, handler, hash, integer, optional, type Shape } from './input';
import { createLiveSocket, type LiveSocket, type LiveSocketOptions } from './live-socket';
import type { Market, Orderbook, OutcomeIndex, Ticker, Trade } from './types';
import type {
  AccountResumed,
  BalanceUpdate,
  BookUpdate,
  EpochChange,
  ExchangeState,
  Heartbeat,
  OrderUpdate,
  TradeUpdate,
} from './types-live';
import { callUser } from './user-code';

export interface WatchHandlers {
  /** The book has changed; `update` is null when it is a snapshot. */
  onBook?(book: LiveBook, update: BookUpdate | null): void;
  onTrade?(trade: Trade): void;
  onTicker?(ticker: Ticker): void;
  onMarket?(market: Market): void;
  onState?(state: LiveState, why: string, book: LiveBook): void;
  /** The exchange refuses requests for this market; the client keeps trying. */
  onError?(error: ExchangeError): void;
}

/** One market's book, equal to the exchange's while `state` is `live`. */
export interface LiveBook {
  readonly conditionId: string;
  /** The Yes book; null before the first snapshot. */
  readonly book: BookSides | null;
  /** The book of an outcome; the book of No mirrors that of Yes. */
  view(outcomeIndex: OutcomeIndex): BookSides | null;
  readonly sequence: number | null;
  readonly state: LiveState;
  stop(): void;
}

export interface LiveOptions extends LiveSocketOptions {
  /** The longest silence about a market before its book is no longer `live`; 12 s by default. */
  readonly silenceMsMax?: number | undefined;
}

/** A heartbeat comes every 5 s, and two may be late. */
const SILENCE_MS_MAX = 12_000;
const CHECK_EVERY_MS = 1_000;

interface Followed {
  readonly book: FollowedBook;
  readonly watchers: Set<{ readonly handlers: WatchHandlers; readonly live: LiveBook }>;
}

export interface MarketsHandlers {
  onNew?(market: Market): void;
  onChange?(market: Market): void;
}

/** Ends the subscription that returned it. */
type End = () => void;

/** One socket for any number of books and, with `getToken`, for the events and the orders of the wallet. */
export interface Live {
  /** What `orderSocket` needs: the connection, and the token that it was opened or renewed with. */
  readonly connection: LiveSocket['connection'];
  readonly isConnected: boolean;
  /** Keeps a market's book in step until `stop()`; a market that is watched twice is requested once. */
  watch(id: string, handlers?: WatchHandlers): LiveBook;
  /** The private events of the wallet whose token `getToken` returns. */
  onOrder(handler: (order: OrderUpdate) => void): End;
  onTrade(handler: (trade: TradeUpdate) => void): End;
  onBalance(handler: (balances: BalanceUpdate) => void): End;
  /** Called at every connection with a token. Unless it has `resumed`, events may be missing: read the wallet's state. */
  onResumed(handler: (begun: AccountResumed) => void): End;
  /** New markets, and every change of a market. After a lost connection read the list, because these are not sent again. */
  watchMarkets(handlers: MarketsHandlers): End;
  /** Called at every connection; the first time, read the wallet's state. */
  onConnect(handler: (connection: { readonly authenticated: boolean }) => void): End;
  /** The mode of the exchange and the operator's message: at every connection, and after every change. */
  onExchange(handler: (state: ExchangeState) => void): End;
  /** The exchange may have lost its latest writes: look up your orders, and send missing signed ones again. */
  onEpoch(handler: (change: EpochChange) => void): End;
  /** Connects again with the present token of `getToken`, after signing in or out. */
  reauthenticate(): void;
  close(): void;
}

const OPTIONS: Shape = {
  baseUrl,
  getToken: optional(handler),
  cancelOnDisconnect: optional(flag),
  accountEvents: optional(flag),
  silenceMsMax: optional(integer(1)),
};
const WATCH: Shape = {
  onBook: optional(handler),
  onTrade: optional(handler),
  onTicker: optional(handler),
  onMarket: optional(handler),
  onState: optional(handler),
  onError: optional(handler),
};
const MARKETS: Shape = { onNew: optional(handler), onChange: optional(handler) };

export function connectLive(options: LiveOptions): Live {
  checkMembers(options, OPTIONS, 'the options');
  const silenceMsMax = options.silenceMsMax ?? SILENCE_MS_MAX;
  const followed = new Map<string, Followed>();
  const lists = new Set<MarketsHandlers>();
  const books = (): FollowedBook[] => [...followed.values()].map(({ book }) => book);
  const socket = createLiveSocket(options, {
    onConnect: () => {
      for (const book of books()) book.connected();
      if (lists.size > 0) socket.followMarkets(true);
    },
    onDisconnect: (why) => {
      for (const book of books()) book.disconnected(why);
    },
  });
  const at = (message: { readonly conditionId: string }) => followed.get(message.conditionId);
  socket.on<Orderbook>('orderbook:snapshot', (body) => at(body)?.book.snapshot(body));
  socket.on<BookUpdate>('orderbook:update', (body) => at(body)?.book.update(body));
  socket.on<Heartbeat>('heartbeat', (body) => at(body)?.book.heartbeat(body));
  socket.on<EpochChange>('epoch', ({ epoch }) => {
    for (const book of books()) book.epoch(epoch);
  });
  socket.on<Trade>('trade:new', (body) => tell(at(body), ({ handlers }) => handlers.onTrade?.(body)));
  socket.on<Ticker>('ticker:update', (body) => tell(at(body), ({ handlers }) => handlers.onTicker?.(body)));
  socket.on<Market>('market:update', (body) => {
    tell(at(body), ({ handlers }) => handlers.onMarket?.(body));
    for (const list of [...lists]) callUser(() => list.onChange?.(body));
  });
  socket.on<Market>('market:new', (body) => {
    for (const list of [...lists]) callUser(() => list.onNew?.(body));
  });
  const checks = setInterval(() => {
    for (const book of books()) book.check();
  }, CHECK_EVERY_MS);

  function follow(conditionId: string): Followed {
    const watchers: Followed['watchers'] = new Set();
    const entry: Followed = {
      watchers,
      book: createFollowedBook({
        conditionId,
        silenceMsMax,
        link: socket,
        events: {
          onBook: (update) => tell(entry, ({ handlers, live }) => handlers.onBook?.(live, update)),
          onState: (state, why) => tell(entry, ({ handlers, live }) => handlers.onState?.(state, why, live)),
          onError: (error) => tell(entry, ({ handlers }) => handlers.onError?.(error)),
        },
      }),
    };
    followed.set(conditionId, entry);
    if (socket.isConnected()) entry.book.connected();
    return entry;
  }

  function watch(id: string, handlers: WatchHandlers = {}): LiveBook {
    hash(id, 'id');
    checkMembers(handlers, WATCH, 'the handlers');
    const conditionId = id.toLowerCase();
    const entry = followed.get(conditionId) ?? follow(conditionId);
    const live = liveBookOf(entry.book, () => {
      entry.watchers.delete(watcher);
      if (entry.watchers.size > 0 || followed.get(conditionId) !== entry) return;
      entry.book.stop();
      followed.delete(conditionId);
      socket.unsubscribe(conditionId);
    });
    const watcher = { handlers, live };
    entry.watchers.add(watcher);
    return live;
  }

  function watchMarkets(handlers: MarketsHandlers): End {
    checkMembers(handlers, MARKETS, 'the handlers');
    // The same handlers may be passed twice.
    const list = { ...handlers };
    if (lists.size === 0) socket.followMarkets(true);
    lists.add(list);
    return () => {
      if (lists.delete(list) && lists.size === 0) socket.followMarkets(false);
    };
  }

  return {
    watch,
    watchMarkets,
    onOrder: (handler) => socket.on('order:update', handler),
    onTrade: (handler) => socket.on('trade:update', handler),
    onBalance: (handler) => socket.on('balance:update', handler),
    onResumed: (handler) => socket.on('account:resumed', handler),
    onConnect: socket.onConnect,
    onExchange: (handler) => socket.on('exchange:update', handler),
    onEpoch: (handler) => socket.on('epoch', handler),
    reauthenticate: socket.reconnect,
    connection: socket.connection,
    get isConnected() {
      return socket.isConnected();
    },
    close(): void {
      clearInterval(checks);
      for (const book of books()) book.stop();
      followed.clear();
      socket.close();
    },
  };
}

/** A copy, because a handler may stop its own watch. */
function tell(
  entry: Followed | undefined,
  act: (watcher: { readonly handlers: WatchHandlers; readonly live: LiveBook }) => void,
): void {
  for (const watcher of [...(entry?.watchers ?? [])]) callUser(() => act(watcher));
}

function liveBookOf(followed: FollowedBook, stop: () => void): LiveBook {
  return {
    conditionId: followed.conditionId,
    get book() {
      return followed.book();
    },
    view(outcomeIndex) {
      const book = followed.book();
      return book && viewOf(book, outcomeIndex);
    },
    get sequence() {
      return followed.book()?.sequence ?? null;
    },
    get state() {
      return followed.state();
    },
    stop,
  };
}
