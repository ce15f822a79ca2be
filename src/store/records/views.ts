import type { OrderFill, PlacedFill, SettlementState } from '../../exchange/facts';
import type { MarketId, OutcomeIndex } from '../../exchange/market';
import type { Side } from '../../exchange/match';
import type { Fill, OrderRecord } from './order';

/** The results of the reads: stored facts in the units of the exchange, before a route puts them on the wire. */

/** A fill and what became of it. */
export type SettledFill = Fill & SettlementState;

/** Which rows of a list, and in which direction: behind `cursor`, of a stretch of time whose ends belong to it. */
export interface RowsPage {
  readonly limit: number;
  readonly cursor: string | null;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Newest first without it. */
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
}

/** `<marketId>-<sequence>-<index>`: unique, and the sequence says when. */
export const tradeId = (marketId: MarketId, fill: { sequence: number; index: number }): string =>
  `${marketId}-${fill.sequence}-${fill.index}`;
