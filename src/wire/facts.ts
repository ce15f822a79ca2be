import type { FillFacts, Level } from '../exchange/facts';
import type { MarketStatus, MarketTerms, MarketTexts, Resolution } from '../exchange/market';
import type { MatchType } from '../exchange/match';
import type { SettlementStatus } from '../exchange/status';
import type { Lots, Micro, Pips } from '../exchange/units';

export type { Balance, Balances, BookedOrder, Candle, Level } from '../exchange/facts';

/**
 * The facts that the presenters need, in the units of the exchange. The reads of src/store answer with more; src/http
 * hands it over. Levels are the Yes book, best first.
 */
export interface BookFacts {
  readonly sequence: number;
  /** Last trade in Yes. */
  readonly lastPips: Pips | null;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
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

/** A fill as a trade of its market. */
export interface TradeFacts extends FillFacts {
  /** Trade id. */
  readonly id: string;
  /** Left out of a fill that has only just happened: MATCHED. */
  readonly settlementStatus?: SettlementStatus;
  readonly transactionHash?: string | null;
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
