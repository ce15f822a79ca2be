import type {
  MarketId,
  MarketStatus,
  MarketTerms,
  MarketTexts,
  OutcomeIndex,
  Resolution,
} from '../exchange/market';
import type { MatchType, Side } from '../exchange/match';
import type { OrderStatus, OrderType, Reason, SettlementStatus } from '../exchange/status';
import type { Lots, Micro, Pips } from '../exchange/units';

/**
 * The facts that the presenters need, in the units of the exchange. The reads of src/store answer with more; src/http
 * hands it over.
 */
export interface LevelFacts {
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly orders: number;
}

/** Levels are the Yes book, best first. */
export interface BookFacts {
  readonly sequence: number;
  /** Last trade in Yes. */
  readonly lastPips: Pips | null;
  readonly bids: readonly LevelFacts[];
  readonly asks: readonly LevelFacts[];
}

export interface MarketFacts {
  readonly terms: MarketTerms;
  readonly texts: MarketTexts;
  readonly state: BookFacts & {
    readonly status: MarketStatus;
    readonly volumeMicro: Micro;
    readonly openInterestMicro: Micro;
    readonly liquidityMicro: Micro;
    readonly resolution: Resolution | null;
  };
  /** The last 24 hours: `openPips` is the price then, in Yes. */
  readonly day: { readonly volumeMicro: Micro; readonly openPips: Pips | null };
  readonly nowMs: number;
}

/** One maker met by one taker; the price is in the taker's token. */
export interface FillFacts {
  /** Trade id. */
  readonly id: string;
  readonly tradeMs: number;
  readonly sequence: number;
  readonly takerHash: string;
  readonly takerSide: Side;
  readonly takerOutcome: OutcomeIndex;
  readonly makerHash: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly matchType: MatchType;
  /** Left out of a fill that has only just happened: MATCHED. */
  readonly settlementStatus?: SettlementStatus;
  readonly transactionHash?: string | null;
}

export interface RecordFacts {
  readonly orderHash: string;
  readonly marketId: MarketId;
  readonly side: Side;
  readonly outcome: OutcomeIndex;
  readonly orderType: OrderType;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly filledLots: Lots;
  readonly quoteMicro: Micro;
  readonly status: OrderStatus;
  readonly reason: Reason;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly sequence: number;
  readonly fillCount: number;
  readonly clientOrderId: string | null;
}

/** A fill as the answer to a submission shows it. */
export interface ShownFill {
  readonly tradeId: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly matchType: MatchType;
  readonly makerHash: string;
  /** Of the order it is shown with. */
  readonly feeMicro: Micro;
}

/** A fill as its order shows it; the price is in that order's token. */
export interface OwnFill extends ShownFill {
  readonly role: 'MAKER' | 'TAKER';
  readonly settlementStatus: SettlementStatus;
  readonly transactionHash: string | null;
}

export interface BalanceFacts {
  readonly freeMicro: Micro;
  readonly reservedMicro: Micro;
}

export interface AccountFacts extends BalanceFacts {
  readonly tokens: readonly (BalanceFacts & {
    readonly marketId: MarketId;
    readonly outcome: OutcomeIndex;
    readonly tokenId: string;
  })[];
}

export interface CandleFacts {
  readonly startMs: number;
  readonly open: Pips;
  readonly high: Pips;
  readonly low: Pips;
  readonly close: Pips;
  readonly volumeMicro: Micro;
  readonly sizeLots: Lots;
  readonly trades: number;
}
