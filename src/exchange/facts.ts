import type { MarketId, OutcomeIndex } from './market';
import type { MatchType, Side } from './match';
import type { OrderStatus, OrderType, Reason } from './status';
import type { Lots, Micro, Pips } from './units';

/** The facts that the store reads and the wire presents, in the units of the exchange. */
export interface Level {
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly orders: number;
}

/** One maker met by one taker; the price is in the taker's token. */
export interface FillFacts {
  readonly tradeMs: number;
  readonly sequence: number;
  readonly takerHash: string;
  readonly takerSide: Side;
  readonly takerOutcome: OutcomeIndex;
  readonly makerHash: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly matchType: MatchType;
}

export interface BookedOrder {
  readonly orderHash: string;
  readonly marketId: MarketId;
  readonly side: Side;
  readonly outcome: OutcomeIndex;
  readonly orderType: OrderType;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly filledLots: Lots;
  /** Value of all fills in the order's own token. */
  readonly quoteMicro: Micro;
  readonly status: OrderStatus;
  readonly reason: Reason;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The number its submission got in its market. */
  readonly sequence: number;
  readonly fillCount: number;
  readonly clientOrderId: string | null;
}

export interface Balance {
  readonly freeMicro: Micro;
  readonly reservedMicro: Micro;
}

export interface TokenBalance extends Balance {
  readonly marketId: MarketId;
  readonly outcome: OutcomeIndex;
  readonly tokenId: string;
}

/** The collateral of a wallet, and its tokens. */
export interface Balances extends Balance {
  readonly tokens: readonly TokenBalance[];
}

/** One bucket of price history, in Yes; `volumeMicro` is taker price x size, `sizeLots` the size alone. */
export interface Candle {
  readonly startMs: number;
  readonly open: Pips;
  readonly high: Pips;
  readonly low: Pips;
  readonly close: Pips;
  readonly volumeMicro: Micro;
  readonly sizeLots: Lots;
  readonly trades: number;
}
