import type { FaultReason, WalletCall } from './chain';
import type { MarketId, MarketStatus, MarketTerms, MarketTexts, OutcomeIndex, Resolution } from './market';
import type { MatchType, Side } from './match';
import type { Mode, OrderStatus, OrderType, Reason, SettlementStatus } from './status';
import type { Lots, Micro, Pips } from './units';

/** The facts that the store reads and the wire presents, in the units of the exchange. */
export interface Level {
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly orders: number;
}

/** The Yes book at one sequence, best levels first. */
export interface BookFacts {
  readonly sequence: number;
  /** The last trade, as a price of Yes. */
  readonly lastPips: Pips | null;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** The changing part of a market at one sequence. */
export interface MarketState extends BookFacts {
  readonly status: MarketStatus;
  readonly mode: Mode;
  /** 0 when the market has no trade. */
  readonly lastTradeMs: number;
  readonly volumeMicro: Micro;
  readonly openInterestMicro: Micro;
  readonly liquidityMicro: Micro;
  /** Null until the market has ended. */
  readonly resolution: Resolution | null;
}

/** The fixed part of a market. */
export interface Market {
  readonly terms: MarketTerms;
  readonly texts: MarketTexts;
}

/** Volume and change over the last 24 hours; prices in Yes. */
export interface DayFigures {
  readonly volumeMicro: Micro;
  /** Price 24 hours ago (of the last trade before), null when the market had no trade yet. */
  readonly openPips: Pips | null;
}

export interface MarketView extends Market {
  readonly state: MarketState;
  readonly day: DayFigures;
  readonly nowMs: number;
}

/** One maker met by a taker; the price is in the taker's token. */
export interface FillFacts {
  /** With the sequence the place of the match; never before that of an earlier match. */
  readonly tradeMs: number;
  /** When they met: before `tradeMs` where the clock of Redis was set back. */
  readonly matchedMs: number;
  readonly sequence: number;
  readonly takerHash: string;
  readonly takerSide: Side;
  readonly takerOutcome: OutcomeIndex;
  readonly makerHash: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly matchType: MatchType;
}

/** The part of a settlement that a fill shows. */
export interface SettlementState {
  readonly settlementStatus: SettlementStatus;
  /** 0x-prefixed hex; null until it is known, and always null with paper funds. */
  readonly transactionHash: string | null;
  /** Block of a settlement on a chain, final unless the status is SUBMITTED. */
  readonly blockNumber?: number;
  /** Why it failed, and by the fault of which wallet. */
  readonly failureReason?: FaultReason;
  readonly failedWallet?: string;
}

/** The settlement alone, of a fill that has more. */
export const settlementOf = (fill: SettlementState): SettlementState => {
  const { settlementStatus, transactionHash, blockNumber, failureReason, failedWallet } = fill;
  return {
    settlementStatus,
    transactionHash,
    ...(blockNumber !== undefined && { blockNumber }),
    ...(failureReason !== undefined && { failureReason }),
    ...(failedWallet !== undefined && { failedWallet }),
  };
};

/** The part of an order that the chain has settled, and that of its failed matches. */
export interface SettledLots {
  readonly settledLots: Lots;
  readonly failedLots: Lots;
}

/** A fill as a trade of its market. A new fill has no settlement yet, which means MATCHED. */
export interface TradeFacts extends FillFacts, Partial<SettlementState> {
  /** Trade id. */
  readonly id: string;
}

/** A fill as one of its orders shows it: price and fee are in that order's token and asset. */
export interface PlacedFill {
  readonly tradeId: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly role: 'MAKER' | 'TAKER';
  readonly matchType: MatchType;
  readonly feeMicro: Micro;
  readonly makerHash: string;
  readonly matchedMs: number;
}

/** The same fill with its settlement. */
export interface OrderFill extends PlacedFill, SettlementState {}

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
  /** The sequence that its submission got in its market. */
  readonly sequence: number;
  readonly fillCount: number;
  readonly clientOrderId: string | null;
}

export interface Balance {
  readonly freeMicro: Micro;
  readonly reservedMicro: Micro;
  /** Only with funds on a chain. */
  readonly onChain?: ChainBalance;
}

/** The amount in the wallet, and the amounts that matches take and bring which are not final yet. */
export interface ChainBalance {
  readonly balanceMicro: Micro;
  readonly outMicro: Micro;
  readonly pendingMicro: Micro;
}

export const totalOf = ({ freeMicro, reservedMicro, onChain }: Balance): number =>
  onChain?.balanceMicro ?? freeMicro + reservedMicro;

export interface TokenBalance extends Balance {
  readonly marketId: MarketId;
  readonly outcome: OutcomeIndex;
  readonly tokenId: string;
}

/** The collateral of a wallet, and its tokens. */
export interface Balances extends Balance {
  readonly tokens: readonly TokenBalance[];
  /** Only with funds on a chain. */
  readonly approvals?: Approvals;
  readonly standing?: Standing;
  readonly owed?: readonly Owed[];
}

/** An amount that the exchange contract holds for a wallet that refused it, as of the last look. */
export interface Owed {
  /** Null for collateral. */
  readonly token: {
    readonly marketId: string;
    readonly outcome: OutcomeIndex;
    readonly tokenId: string;
  } | null;
  readonly amountMicro: Micro;
  /** Pays it. */
  readonly call: WalletCall;
}

/** The part of its matches and orders that a wallet may leave to the chain, and what failed matches mean for it. */
export interface Standing {
  /** Null where there is no limit. */
  readonly limit: TrustLimit | null;
  /** The value of matches that wait for the chain, and the same with all that open orders need. */
  readonly unsettledMicro: Micro;
  readonly committedMicro: Micro;
  readonly settledMicro: Micro;
  /** Strikes that are not forgotten. */
  readonly strikes: number;
  readonly lastStrike: { readonly reason: FaultReason; readonly tradeId: string } | null;
  /** Null when the wallet may order. */
  readonly suspendedUntilMs: number | null;
}

/** The most that a wallet may leave to the chain (src/extensions/chain/lua/lib/trust.lua). */
export interface TrustLimit {
  readonly unsettledMicro: Micro;
  /** With all that open orders need. */
  readonly committedMicro: Micro;
  /** The value of settled matches at which both grow tenfold; null for a contract wallet, whose limit never grows. */
  readonly growsAtMicro: Micro | null;
}

/** The amounts that a wallet lets the exchange contract take, as of a final block. */
export interface Approvals {
  readonly asOfBlock: number;
  /** The largest amount of the exchange for any higher one. */
  readonly allowanceMicro: Micro;
  readonly isApprovedForTokens: boolean;
}

/** One candle of the price history, in Yes; `volumeMicro` is taker price x size, `sizeLots` the size alone. */
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
