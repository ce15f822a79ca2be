import type { OutcomeIndex } from '../../src/exchange/market';
import type { Side } from '../../src/exchange/match';
import { type ModelOrder, rankOf } from './matching';

/** Selects open orders of a wallet; null for any. */
export interface Wanted {
  readonly market: string | null;
  readonly outcome: OutcomeIndex | null;
  readonly side: Side | null;
}
/** The place at which a walk continues, and the number of the wallet's older orders, open or not, when it was left. */
export interface Place {
  readonly rank: number;
  readonly behind: number;
}
export interface Swept {
  readonly cancelled: readonly ModelOrder[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly next: Place | null;
  readonly beganAgain: boolean;
}
interface Books {
  /** Every order there ever was, by its hash. */
  readonly orders: ReadonlyMap<string, ModelOrder>;
  /** Cancels these orders of one market as one command. */
  cancel(market: string, list: ModelOrder[]): unknown;
  market(id: string): { readonly sequence: number };
}

const CANCEL_MAX = 500;
const older = (a: ModelOrder, b: ModelOrder): number =>
  rankOf(a) - rankOf(b) || (a.request.orderHash < b.request.orderHash ? -1 : 1);
const isOpen = ({ status }: ModelOrder): boolean => status === 'OPEN' || status === 'PARTIALLY_FILLED';

/**
 * A bounded step over a wallet's open orders, oldest first, that cancels the selected ones, market by market. It starts again
 * when an order was added behind its place.
 */
export function sweepOrders(
  { orders, cancel, market }: Books,
  who: string,
  wanted: Wanted,
  from: Place | null,
  look: number,
): Swept {
  const all = [...orders.values()].filter(({ request }) => request.maker === who);
  const behind = (rank: number): number => all.filter((o) => rankOf(o) < rank).length;
  const beganAgain = from !== null && behind(from.rank) !== from.behind;
  const start = from === null || beganAgain ? 0 : from.rank;
  const ahead = all.filter((o) => isOpen(o) && rankOf(o) >= start).sort(older);
  const fits = ({ request }: ModelOrder): boolean =>
    [null, request.marketId].includes(wanted.market) &&
    [null, request.order.outcome].includes(wanted.outcome) &&
    [null, request.order.side].includes(wanted.side);
  const found = ahead.slice(0, look).filter(fits);
  const cancelled = found.slice(0, CANCEL_MAX);
  const next = found[CANCEL_MAX] ?? ahead[look];
  const rank = next ? rankOf(next) : 0;
  const numbers = new Map<string, number>();
  if (wanted.market) numbers.set(wanted.market, market(wanted.market).sequence);
  for (const id of new Set(cancelled.map(({ request }) => request.marketId))) {
    const list = cancelled.filter(({ request }) => request.marketId === id);
    cancel(id, list);
    numbers.set(id, market(id).sequence);
  }
  return { cancelled, numbers, next: next ? { rank, behind: behind(rank) } : null, beganAgain };
}
