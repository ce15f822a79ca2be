import type { Level } from '../../exchange/facts';
import type {
  MarketId,
  MarketStatus,
  MarketTerms,
  MarketTexts,
  OutcomeIndex,
  Resolution,
} from '../../exchange/market';
import type { MatchType, Side } from '../../exchange/match';
import type { Mode } from '../../exchange/status';
import type { Lots, Micro, Pips } from '../../exchange/units';
import type { Fill, OrderRecord } from './order';
import type { SettlementState } from './settlement';

export type { Balances, Candle, Level, TokenBalance } from '../../exchange/facts';

/** The results of the reads: stored facts in the units of the exchange, before a route puts them on the wire. */

/** A market's moving part at one sequence; levels are the Yes book, best first. */
export interface MarketState {
  readonly status: MarketStatus;
  readonly mode: Mode;
  readonly sequence: number;
  /** Last trade in Yes. */
  readonly lastPips: Pips | null;
  /** 0 without a trade. */
  readonly lastTradeMs: number;
  readonly volumeMicro: Micro;
  readonly openInterestMicro: Micro;
  readonly liquidityMicro: Micro;
  /** Null while it has not ended. */
  readonly resolution: Resolution | null;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface Market {
  readonly terms: MarketTerms;
  readonly texts: MarketTexts;
}

/** Volume and change over the last 24 hours; prices in Yes. */
export interface DayFigures {
  readonly volumeMicro: Micro;
  /** Price 24 hours ago (the last trade before), null when nothing had traded. */
  readonly openPips: Pips | null;
}

export interface MarketView extends Market {
  readonly state: MarketState;
  readonly day: DayFigures;
  readonly nowMs: number;
}

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

/** A fill as one of its orders shows it: price in that order's token. */
export interface PlacedFill {
  readonly tradeId: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly role: 'MAKER' | 'TAKER';
  readonly matchType: MatchType;
  readonly feeMicro: Micro;
  readonly makerHash: string;
}

/** The same, and what became of it. */
export interface OrderFill extends PlacedFill, SettlementState {}

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
