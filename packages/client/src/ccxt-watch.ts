import type { BookSides } from './book';
import { named } from './ccxt-errors';
import { type Listed, orderBookOf, tradeOf } from './ccxt-parse';
import type { CcxtOrder, CcxtOrderBook, CcxtTrade } from './ccxt-types';
import type { Client } from './client';
import type { Live, LiveBook } from './live';
import type { Order } from './types-account';

/** The most rows that wait for a caller; the oldest are dropped. */
const WAITING_MAX = 1_000;

/** A stream of rows. Each call receives the rows since the call before, or waits for the next one. */
interface Channel<T> {
  push(row: T): void;
  next(): Promise<T[]>;
}

function createChannel<T>(): Channel<T> {
  let rows: T[] = [];
  let asking: ((rows: T[]) => void)[] = [];
  const take = (): T[] => {
    const taken = rows;
    rows = [];
    return taken;
  };
  return {
    push: (row) => {
      rows = [...rows.slice(1 - WAITING_MAX), row];
      if (asking.length === 0) return;
      const [answers, taken] = [asking, take()];
      asking = [];
      for (const answer of answers) answer(taken);
    },
    next: () => (rows.length > 0 ? Promise.resolve(take()) : new Promise((resolve) => asking.push(resolve))),
  };
}

interface Watched {
  readonly book: LiveBook;
  readonly changes: Channel<true>;
  /** The book that was given last. */
  shown: BookSides | null;
}

interface WatchingOptions {
  readonly client: Client;
  readonly live: Live | undefined;
  readonly listedOf: (symbol: string) => Promise<Listed>;
  readonly parsed: (order: Order) => Promise<CcxtOrder>;
}

export interface Watching {
  watchOrderBook(symbol: string, limit?: number): Promise<CcxtOrderBook>;
  watchTrades(symbol: string): Promise<CcxtTrade[]>;
  watchOrders(symbol?: string): Promise<CcxtOrder[]>;
}

/** ccxt's `watch` methods over live books and private messages. */
export function createWatching({ live, listedOf, parsed }: WatchingOptions): Watching {
  const books = new Map<string, Watched>();
  const trades = new Map<string, Channel<CcxtTrade>>();
  let orders: Map<string, Channel<CcxtOrder>> | null = null;

  function connected(): Live {
    if (!live) throw named('NotSupported', 'the watch methods need the `live` of the options');
    return live;
  }

  async function watchOrderBook(symbol: string, limit?: number): Promise<CcxtOrderBook> {
    const listed = await listedOf(symbol);
    let watched = books.get(symbol);
    if (!watched) {
      const changes = createChannel<true>();
      // A book that is not in step is not shown; the update that heals it comes as a change.
      const told = (): void => changes.push(true);
      const book = connected().watch(listed.market.conditionId, { onBook: told, onState: told });
      watched = { book, changes, shown: null };
      books.set(symbol, watched);
    }
    const { book, changes, shown } = watched;
    do await changes.next();
    while (book.state !== 'live' || book.book === shown || book.view(listed.outcome) === null);
    watched.shown = book.book;
    const sides = book.view(listed.outcome) ?? { bids: [], asks: [] };
    return orderBookOf(listed, sides, { nonce: book.sequence ?? 0, limit });
  }

  async function watchTrades(symbol: string): Promise<CcxtTrade[]> {
    const listed = await listedOf(symbol);
    const channel = trades.get(symbol) ?? createChannel<CcxtTrade>();
    if (!trades.has(symbol)) {
      trades.set(symbol, channel);
      connected().watch(listed.market.conditionId, {
        onTrade: (trade) => channel.push(tradeOf(listed, trade)),
      });
    }
    return channel.next();
  }

  async function watchOrders(symbol = ''): Promise<CcxtOrder[]> {
    if (symbol !== '') await listedOf(symbol);
    if (!orders) {
      const channels = new Map<string, Channel<CcxtOrder>>();
      orders = channels;
      connected().onOrder(async (order) => {
        const one = await parsed(order);
        for (const name of ['', one.symbol]) channels.get(name)?.push(one);
      });
    }
    const channel = orders.get(symbol) ?? createChannel<CcxtOrder>();
    orders.set(symbol, channel);
    return channel.next();
  }

  return { watchOrderBook, watchTrades, watchOrders };
}
