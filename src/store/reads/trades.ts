import { Refusal } from '../../exchange/errors';
import type { SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import type { MarketMatches, PackedMatch } from '../lists/matches';
import { above, below, earlier, FIRST_MATCH, isBefore, LAST_MATCH, type StreamPlace } from '../lists/places';
import { decodeFills, type Fill } from '../records/order';
import type { RowsPage, TradesPage } from '../records/order-views';

interface TradeReadsOptions {
  readonly matches: MarketMatches;
  /** Adds to fills of one market the progress of their settlement. */
  readonly show: (id: MarketId, fills: readonly Fill[]) => Promise<(Fill & SettlementState)[]>;
}

/** Matches read in one call while a page is filled. */
const MATCHES_STEP = 100;
const CURSOR = /^(\d{1,15})-(\d{1,15})-(\d{1,4})$/;

interface Place extends StreamPlace {
  readonly index: number;
}

/**
 * The trades of a market, from either end. A cursor is the last trade that was shown, so it means the same in both
 * directions: the page continues after it in the requested direction. Throws INVALID_CURSOR.
 */
export function createTradeReads({ matches, show }: TradeReadsOptions) {
  return async (id: MarketId, page: RowsPage): Promise<TradesPage> => {
    const isAscending = page.order === 'asc';
    const after = page.cursor === null ? null : parseCursor(page.cursor);
    let [from, to] = boundsOf(page, after, isAscending);
    const fills: Fill[] = [];
    // Each match has a fill at least, except that of the cursor, which may have none behind it.
    for (let spare = after === null ? 1 : 2; fills.length <= page.limit; spare = 1) {
      const most = Math.min(MATCHES_STEP, page.limit - fills.length + spare);
      const found = await matches(id, { from, to, descending: !isAscending, most });
      for (const match of found) {
        const own = isAscending ? fillsOf(match) : fillsOf(match).reverse();
        fills.push(...own.filter((fill) => after === null || isBehind(fill, after, isAscending)));
      }
      const last = found.at(-1);
      if (!last || found.length < most) break;
      [from, to] = isAscending ? [above(last), to] : [from, below(last)];
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

/** The first and the last place that may have rows of the page. */
function boundsOf(
  { sinceMs, untilMs }: RowsPage,
  after: Place | null,
  isAscending: boolean,
): [from: StreamPlace, to: StreamPlace] {
  const from = sinceMs === undefined ? FIRST_MATCH : { tradeMs: sinceMs, sequence: 0 };
  const to = untilMs === undefined ? LAST_MATCH : { tradeMs: untilMs, sequence: LAST_MATCH.sequence };
  if (after === null) return [from, to];
  if (isAscending) return [isBefore(after, from) ? from : after, to];
  return [from, earlier(after, to)];
}

function isBehind(fill: Place, after: Place, isAscending: boolean): boolean {
  const order = fill.tradeMs - after.tradeMs || fill.sequence - after.sequence || fill.index - after.index;
  return isAscending ? order > 0 : order < 0;
}

/** In the order in which the makers were met. */
export const fillsOf = ({ tradeMs, sequence, packed }: PackedMatch): Fill[] =>
  decodeFills(tradeMs, sequence, packed);

function parseCursor(cursor: string): Place {
  const parts = CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  const [tradeMs = 0, sequence = 0, index = 0] = parts.slice(1).map(Number);
  return { tradeMs, sequence, index };
}
