import { Refusal } from '../../exchange/errors';
import type { SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { decodeFills, type Fill } from '../records/order';
import type { RowsPage, TradesPage } from '../records/views';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

interface TradeReadsOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** Adds to fills of one market the progress of their settlement. */
  readonly show: (id: MarketId, fills: readonly Fill[]) => Promise<(Fill & SettlementState)[]>;
}

export type StreamEntry = [Buffer, [Buffer, Buffer]];

/** Matches read in one call while a page is filled. */
const MATCHES_STEP = 100;
const CURSOR = /^(\d{1,15})-(\d{1,15})-(\d{1,4})$/;

interface Place {
  readonly tradeMs: number;
  readonly sequence: number;
  readonly index: number;
}

/**
 * The trades of a market, from either end. A cursor is the last trade that was shown, so it means the same in both
 * directions: the page continues after it in the requested direction. Throws INVALID_CURSOR.
 */
export function createTradeReads({ redis, keys, show }: TradeReadsOptions) {
  return async (id: MarketId, page: RowsPage): Promise<TradesPage> => {
    const isAscending = page.order === 'asc';
    const after = page.cursor === null ? null : parseCursor(page.cursor);
    let [low, high] = boundsOf(page, after, isAscending);
    const fills: Fill[] = [];
    while (fills.length <= page.limit) {
      const entries = isAscending
        ? await redis.xrangeBuffer(keys.trades(id), low, high, 'COUNT', MATCHES_STEP)
        : await redis.xrevrangeBuffer(keys.trades(id), high, low, 'COUNT', MATCHES_STEP);
      for (const entry of entries as unknown as StreamEntry[]) {
        const found = isAscending ? fillsOf(entry) : fillsOf(entry).reverse();
        fills.push(...found.filter((fill) => after === null || isBehind(fill, after, isAscending)));
      }
      const last = entries.at(-1)?.[0].toString();
      if (last === undefined || entries.length < MATCHES_STEP) break;
      [low, high] = isAscending ? [`(${last}`, high] : [low, `(${last}`];
    }
    const shown = fills.slice(0, page.limit);
    const last = shown.at(-1);
    const isCut = fills.length > page.limit && last;
    return {
      fills: await show(id, shown),
      next: isCut ? `${last.tradeMs}-${last.sequence}-${last.index}` : null,
    };
  };
}

/** The range of entries that may have rows of the page; a time without a number means all of its millisecond. */
function boundsOf(
  { sinceMs, untilMs }: RowsPage,
  after: Place | null,
  isAscending: boolean,
): [low: string, high: string] {
  const low = sinceMs === undefined ? '-' : `${sinceMs}`;
  const high = untilMs === undefined ? '+' : `${untilMs}`;
  if (after === null) return [low, high];
  const { tradeMs, sequence } = after;
  const place = `${tradeMs}-${sequence}`;
  if (isAscending) return [sinceMs !== undefined && sinceMs > tradeMs ? low : place, high];
  return [low, untilMs !== undefined && untilMs < tradeMs ? high : place];
}

function isBehind(fill: Place, after: Place, isAscending: boolean): boolean {
  const order = fill.tradeMs - after.tradeMs || fill.sequence - after.sequence || fill.index - after.index;
  return isAscending ? order > 0 : order < 0;
}

/** In the order in which the makers were met. */
export function fillsOf([id, [, packed]]: StreamEntry): Fill[] {
  const [ms, sequence] = id.toString().split('-').map(Number);
  return decodeFills(ms ?? 0, sequence ?? 0, packed);
}

function parseCursor(cursor: string): Place {
  const parts = CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  const [tradeMs = 0, sequence = 0, index = 0] = parts.slice(1).map(Number);
  return { tradeMs, sequence, index };
}
