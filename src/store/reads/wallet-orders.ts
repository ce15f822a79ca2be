import { Refusal } from '../../exchange/errors';
import type { ArchivedReads } from '../lists/archived-reads';
import { mergeOnce } from '../lists/list';
import { createFoundOrders, type FoundOrder } from '../lists/orders';
import { addressBytes, decodeOrder, hashHex, type OrderRecord } from '../records/order';
import type { OrdersFilter, OrdersPage, OrderView } from '../records/order-views';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

interface WalletIndexOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archivedReads: ArchivedReads;
}

interface WalletReadsOptions extends WalletIndexOptions {
  readonly views: Views;
}

/** An order in the list of its wallet. */
export interface WalletEntry {
  readonly rank: number;
  readonly hash: Buffer;
  /** Present when the order was read from the archive. */
  readonly record?: Buffer;
}

/** The list of a wallet's orders. */
export interface WalletIndex<Entry extends WalletEntry = WalletEntry> {
  /** The next entries below `from`, newest first. Without `more` there are no others behind them. */
  entries(
    address: Buffer,
    from: WalletEntry | null,
    openOnly: boolean,
    most?: number,
  ): Promise<{ readonly found: Entry[]; readonly more: boolean }>;
  /** The orders of these entries, in any order. One that was dropped meanwhile is missing. */
  records(found: readonly Entry[]): Promise<FoundOrder[]>;
}

type Views = (found: readonly FoundOrder[]) => Promise<readonly (OrderView | null)[]>;

/** Orders read for one page: a filter that matches little gets a short page and a cursor. */
export const STEP = 500;
/** The most orders of one wallet that may share a rank (see order.rank in lua/lib/order.lua) without being skipped. */
const TIES = 64;
const CURSOR = /^(\d{1,16})_([0-9a-f]{64})$/;

export interface WalletReads {
  /** Newest first; throws INVALID_CURSOR. */
  orders(
    address: string,
    filter: OrdersFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<OrdersPage>;
  openCount(address: string): Promise<number>;
}

export function createWalletReads({ views, ...options }: WalletReadsOptions): WalletReads {
  const { redis, keys } = options;
  return {
    orders: ordersOf(createWalletIndex(options), views),
    openCount: (address) => redis.zcount(keys.wallet(addressBytes(address)), '(0', '+inf'),
  };
}

/** Reads a wallet's orders by the index that lua/lib/orders.lua keeps: rank while open, minus the rank once final. */
export function createWalletIndex({ redis, keys, archivedReads }: WalletIndexOptions): WalletIndex {
  const foundOrders = createFoundOrders({ redis, keys, archivedReads });

  /**
   * Open orders are read first and the archive last, so an order that becomes final or leaves Redis meanwhile is seen twice, not
   * missed.
   */
  async function entries(address: Buffer, from: WalletEntry | null, openOnly: boolean, most = STEP) {
    const wallet = keys.wallet(address);
    const top = from ? String(from.rank) : '+inf';
    const open = await redis.zrevrangebyscoreBuffer(wallet, top, '(0', 'WITHSCORES', 'LIMIT', 0, most + TIES);
    const bottom = from ? String(-from.rank) : '-inf';
    const final = openOnly
      ? []
      : await redis.zrangebyscoreBuffer(wallet, bottom, '(0', 'WITHSCORES', 'LIMIT', 0, most + TIES);
    const here: WalletEntry[] = [];
    for (const list of [open, final]) {
      for (let i = 0; i + 1 < list.length; i += 2) {
        const entry = { rank: Math.abs(Number(list[i + 1])), hash: list[i] as Buffer };
        if (!from || newer(from, entry) < 0) here.push(entry);
      }
    }
    const archived = openOnly ? [] : await archivedReads.ofWallet(address, from, most);
    const found = mergeOnce<WalletEntry>([...here, ...archived], entryName, newer).slice(0, most);
    return { found, more: found.length === most };
  }

  async function records(found: readonly WalletEntry[]): Promise<FoundOrder[]> {
    const unread = found.filter(({ record }) => record === undefined);
    const read = await foundOrders(unread.map(({ hash }) => hashHex(hash)));
    const archived = found.flatMap(({ hash, record }): FoundOrder[] =>
      record ? [{ record: decodeOrder(hashHex(hash), record), hasLeft: true }] : [],
    );
    return [...archived, ...read.flatMap((one) => one ?? [])];
  }

  return { entries, records };
}

/** The pages of a list of orders. */
export function ordersOf<Entry extends WalletEntry>(
  { entries, records }: WalletIndex<Entry>,
  views: Views,
): WalletReads['orders'] {
  async function orders(
    address: string,
    filter: OrdersFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<OrdersPage> {
    const wallet = addressBytes(address);
    let from: WalletEntry | null = page.cursor === null ? null : parseCursor(page.cursor);
    const isOpen = filter.status === 'open';
    const isFiltered = Object.keys(filter).length > (isOpen ? 1 : 0);
    const shown: FoundOrder[] = [];
    let looked = 0;
    while (looked < STEP) {
      // One more than the page shows whether there are others.
      const most = isFiltered ? STEP - looked : page.limit + 1 - shown.length;
      const { found, more } = await entries(wallet, from, isOpen, most);
      looked += found.length;
      const kept = new Map(
        (await records(found))
          .filter(({ record }) => matches(record, filter))
          .map((one) => [one.record.orderHash, one]),
      );
      for (const entry of found) {
        const one = kept.get(hashHex(entry.hash));
        if (one && shown.length === page.limit) return result(shown, from, looked);
        if (one) shown.push(one);
        from = entry;
      }
      if (!more) return result(shown, null, looked);
    }
    return result(shown, from, looked);
  }

  async function result(
    shown: readonly FoundOrder[],
    next: WalletEntry | null,
    looked: number,
  ): Promise<OrdersPage> {
    return {
      orders: (await views(shown)).flatMap((view) => (view ? [view] : [])),
      next: next && `${next.rank}_${next.hash.toString('hex')}`,
      looked,
    };
  }

  return orders;
}

export const entryName = ({ hash }: WalletEntry): string => hash.toString('latin1');

/** Sorts newest first; orders of the same rank by hash. */
export function newer(a: WalletEntry, b: WalletEntry): number {
  return b.rank - a.rank || Buffer.compare(a.hash, b.hash);
}

function parseCursor(cursor: string): WalletEntry {
  const parts = CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  return { rank: Number(parts[1]), hash: Buffer.from(parts[2] ?? '', 'hex') };
}

function matches(record: OrderRecord, filter: OrdersFilter): boolean {
  const isOpen = record.status === 'OPEN' || record.status === 'PARTIALLY_FILLED';
  const statusFits =
    filter.status === undefined || (filter.status === 'open' ? isOpen : record.status === filter.status);
  return (
    statusFits &&
    (filter.marketId === undefined || record.marketId === filter.marketId) &&
    (filter.side === undefined || record.side === filter.side) &&
    (filter.outcome === undefined || record.outcome === filter.outcome) &&
    (filter.clientOrderId === undefined || record.clientOrderId === filter.clientOrderId)
  );
}
