import type {
  Decimal,
  FeeAsset,
  IsoTime,
  MatchType,
  OrderReason,
  OrderStatus,
  OrderType,
  OutcomeIndex,
  PageQuery,
  Period,
  Problem,
  SelfTradePrevention,
  SettlementStatus,
  Side,
  Trade,
} from './types';
import type { ChainSettlement } from './types-chain';

/** Orders, and the data of one wallet, as they come over the wire. */

/** The twelve signed members; numbers are decimal strings. */
export interface UnsignedOrder {
  readonly salt: string;
  readonly maker: string;
  readonly signer: string;
  readonly taker: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  /** Epoch seconds; "0" never expires. */
  readonly expiration: string;
  readonly nonce: string;
  readonly feeRateBps: string;
  /** 0 is BUY, 1 is SELL. */
  readonly side: 0 | 1;
  readonly signatureType: number;
}

export interface SignedOrder extends UnsignedOrder {
  readonly signature: string;
}

/** The body of a submission. */
export interface SubmitBody {
  readonly order: SignedOrder;
  readonly orderType?: OrderType | undefined;
  readonly selfTradePrevention?: SelfTradePrevention | undefined;
  readonly clientOrderId?: string | undefined;
  /** Epoch milliseconds: an order not booked by then is refused. */
  readonly deadline?: number | undefined;
}

interface Sizes {
  readonly price: Decimal;
  readonly size: Decimal;
  readonly filledSize: Decimal;
  readonly remainingSize: Decimal;
  readonly cancelledSize: Decimal;
  readonly averagePrice: Decimal | null;
  readonly status: OrderStatus;
  readonly reason: OrderReason | null;
}

/** The answer to a submission; prices are in the order's own token. `fills` has the latest 100 of `fillCount`. */
export interface Submission extends Sizes {
  readonly orderHash: string;
  readonly fillCount: number;
  readonly fills: readonly {
    readonly tradeId: string;
    readonly price: Decimal;
    readonly size: Decimal;
    readonly matchType: MatchType;
    readonly makerOrderHash: string;
    readonly fee: Decimal;
    readonly feeAsset: FeeAsset;
    readonly matchedAt: IsoTime;
  }[];
  readonly sequence: number;
  readonly createdAt: IsoTime;
}

/** The answer to a replacement. */
export interface Replacement extends Submission {
  /** Null when the order had been booked before, and not as a replacement of that one. */
  readonly replaced: {
    readonly orderHash: string;
    readonly filledSize: Decimal;
    readonly cancelledSize: Decimal;
  } | null;
}

export interface Booked {
  readonly status: 200;
  readonly order: Submission;
}

/** The result of each order of a batch; `isBooked` distinguishes the two kinds. */
export type BatchResult = Booked | Problem;

export interface OrderFill extends ChainSettlement {
  readonly tradeId: string;
  readonly price: Decimal;
  readonly size: Decimal;
  readonly role: 'MAKER' | 'TAKER';
  readonly matchType: MatchType;
  readonly fee: Decimal;
  readonly feeAsset: FeeAsset;
  readonly matchedAt: IsoTime;
  readonly settlementStatus: SettlementStatus;
  readonly transactionHash: string | null;
}

export interface Order extends Sizes {
  /** Only with funds on a chain: the filled part that is settled there, and the part whose matches failed. */
  readonly settledSize?: Decimal;
  readonly failedSize?: Decimal;
  readonly orderHash: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly maker: string;
  readonly outcomeIndex: OutcomeIndex;
  readonly tokenId: string;
  readonly side: Side;
  readonly orderType: OrderType;
  readonly expiration: string;
  /** Null except to the maker. */
  readonly clientOrderId: string | null;
  readonly createdAt: IsoTime;
  readonly updatedAt: IsoTime;
  readonly sequence: number;
  /** The number of all fills; `orderFills` lists them. */
  readonly fillCount: number;
  /** The latest 100, oldest first; in `order:update` only new or newly settled ones. */
  readonly fills: readonly OrderFill[];
  /** Only for the maker. */
  readonly order?: SignedOrder;
}

export interface Cancelled {
  readonly orderHash: string;
  readonly status: OrderStatus;
  /** False when it was cancelled before. */
  readonly cancelled: boolean;
  readonly filledSize: Decimal;
  readonly remainingSize: Decimal;
  readonly cancelledSize: Decimal;
  readonly sequence: number;
  readonly message: string;
}

export interface CancelledAll {
  readonly cancelled: readonly string[];
  readonly count: number;
  /** Sequence of the market: no selected order with a lower number is open. Absent when the request was for all markets. */
  readonly sequence?: number;
  /** The same for each market in which an order was cancelled; only when the request was for all markets. */
  readonly sequences?: Readonly<Record<string, number>>;
  readonly message: string;
}

export interface CancelledMany {
  readonly cancelled: readonly string[];
  /** Hash -> reason. */
  readonly notCancelled: Readonly<Record<string, string>>;
}

export interface Position {
  readonly marketId: string;
  readonly conditionId: string;
  readonly outcomeIndex: OutcomeIndex;
  readonly tokenId: string;
  readonly size: Decimal;
  readonly averagePrice: Decimal | null;
  readonly currentValue: Decimal | null;
  readonly realizedPnl: Decimal;
  readonly unrealizedPnl: Decimal | null;
}

export interface PositionsQuery extends PageQuery {
  /** Positions that are open or closed; both by default. */
  readonly status?: 'open' | 'closed' | undefined;
  readonly marketId?: string | undefined;
}

export interface JournalQuery extends PageQuery, Period {
  readonly marketId?: string | undefined;
}

/** The public trade, and the part of the wallet's own order in it. */
export interface OwnTrade extends Trade {
  readonly role: 'MAKER' | 'TAKER';
  readonly own: {
    readonly orderHash: string;
    readonly clientOrderId: string | null;
    readonly role: 'MAKER' | 'TAKER';
    readonly side: Side;
    readonly outcomeIndex: OutcomeIndex;
    readonly tokenId: string;
    readonly price: Decimal;
    readonly size: Decimal;
    readonly fee: Decimal;
    readonly feeAsset: FeeAsset;
  };
}

/** An event of a wallet; the members of a trade are null for other events. */
export interface Activity {
  readonly id: string;
  readonly type: 'TRADE' | 'SPLIT' | 'MERGE' | 'FAUCET' | 'REDEEM' | 'REVERSAL' | 'GRANT';
  readonly occurredAt: IsoTime;
  readonly marketId: string | null;
  readonly conditionId: string | null;
  readonly side: Side | null;
  readonly outcomeIndex: OutcomeIndex | null;
  readonly role: 'MAKER' | 'TAKER' | null;
  readonly price: Decimal | null;
  readonly size: Decimal | null;
  readonly fee: Decimal | null;
  readonly feeAsset: FeeAsset | null;
  readonly tradeId: string | null;
  readonly orderHash: string | null;
  /** The price of Yes at which a split or a merge divides its collateral; without one each outcome has half. */
  readonly yesPrice: Decimal | null;
  /** The change of the balances; negative amounts left the wallet. */
  readonly changes: { readonly collateral: Decimal; readonly yes: Decimal; readonly no: Decimal };
}

export interface Me {
  readonly address: string;
  readonly username: string | null;
  readonly bio: string | null;
  readonly avatarUrl: string | null;
  readonly joinedAt: IsoTime;
  /** Whether the wallet has no name among the holders and in the activity of markets. */
  readonly hidden: boolean;
  /** Whether everybody may read the positions and the portfolio of the wallet. */
  readonly portfolioPublic: boolean;
  /** `expiresAt` is null for an API key without an expiration. */
  readonly session: { readonly issuedAt: IsoTime; readonly expiresAt: IsoTime | null };
}

export type Profile = Omit<Me, 'joinedAt' | 'session'> & { readonly joinedAt: IsoTime | null };

/** Omitted members do not change; null clears one. */
export interface ProfileChange {
  readonly username?: string | null;
  readonly bio?: string | null;
  readonly avatarUrl?: string | null;
  readonly hidden?: boolean | null;
  readonly portfolioPublic?: boolean | null;
}

/** A wallet of a market; both members are null for one that hides itself. */
export interface PublicWallet {
  readonly address: string | null;
  readonly username: string | null;
}

/** The 50 largest holders of an outcome, largest first; `count` counts all. */
export interface Holders {
  readonly marketId: string;
  readonly outcomeIndex: OutcomeIndex;
  readonly count: number;
  readonly data: readonly (PublicWallet & { readonly size: Decimal })[];
}

/** The wallets that gained most since `startsAt`, largest gain first; `asOf` is null while the week has no ranking. */
export interface Leaderboard {
  readonly startsAt: IsoTime;
  readonly endsAt: IsoTime;
  readonly asOf: IsoTime | null;
  readonly data: readonly {
    /** From 1. */
    readonly rank: number;
    readonly address: string;
    readonly username: string | null;
    readonly pnl: Decimal;
    readonly volume: Decimal;
  }[];
}

/** A public trade and its wallets. */
export interface MarketTrade extends Trade {
  readonly taker: PublicWallet;
  readonly maker: PublicWallet;
}

export interface Comment {
  readonly id: string;
  readonly marketId: string;
  readonly parentId: string | null;
  readonly author: {
    readonly address: string;
    readonly username: string | null;
    readonly avatarUrl: string | null;
  };
  readonly body: string;
  readonly likes: number;
  readonly createdAt: IsoTime;
  readonly deleted: boolean;
}

/** The answer of GET /auth/nonce, with everything that a sign-in message needs. */
export interface Challenge {
  readonly nonce: string;
  readonly address: string;
  readonly domain: string;
  readonly uri: string;
  readonly chainId: number;
  readonly version: string;
  readonly statement: string;
  readonly issuedAt: IsoTime;
  readonly expiresAt: IsoTime;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: 'Bearer';
  /** Seconds. */
  readonly expiresIn: number;
  readonly refreshExpiresIn: number;
  readonly user: { readonly id: string; readonly address: string; readonly chainId: number };
}
