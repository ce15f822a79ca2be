import type { OrderFill, PlacedFill, SettlementState } from '../../exchange/facts';
import type { MarketId, OutcomeIndex } from '../../exchange/market';
import type { Side } from '../../exchange/match';
import type { Fill, OrderRecord } from './order';

/** The results of the reads: stored facts in the units of the exchange, before a route converts them for the wire. */

/** A fill and its settlement. */
export type SettledFill = Fill & SettlementState;

/** Selects rows of a list and their direction: after `cursor`, within a time range that includes its ends. */
export interface RowsPage {
  readonly limit: number;
  readonly cursor: string | null;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Newest first by default. */
  readonly order?: 'asc' | 'desc';
}

export interface TradesPage {
  readonly fills: readonly SettledFill[];
  /** Opaque to clients; null at the end. */
  readonly next: string | null;
}

export interface OrderView {
  readonly record: OrderRecord;
  /** The latest of them, oldest first. */
  readonly fills: readonly OrderFill[];
}

export interface PlacedView {
  readonly record: OrderRecord;
  /** The latest of them, oldest first. */
  readonly fills: readonly PlacedFill[];
}

export interface OrderFillsPage {
  readonly record: OrderRecord;
  /** Newest first. */
  readonly fills: readonly OrderFill[];
  readonly next: string | null;
}

export interface OrdersFilter {
  /** 'open' for OPEN and PARTIALLY_FILLED, an exact status, or undefined for all. */
  readonly status?: string;
  readonly marketId?: MarketId;
  readonly side?: Side;
  readonly outcome?: OutcomeIndex;
  readonly clientOrderId?: string;
}

export interface OrdersPage {
  readonly orders: readonly OrderView[];
  readonly next: string | null;
  /** The orders that were read for the page. */
  readonly looked: number;
}

/** `<marketId>-<sequence>-<index>`: unique, and the sequence gives the order in time. */
export const tradeId = (marketId: MarketId, fill: { sequence: number; index: number }): string =>
  `${marketId}-${fill.sequence}-${fill.index}`;
