import type { ChainConfig, ChainSettlement } from './types-chain';
import type { ExchangeLimits } from './types-limits';

/** The bodies of the interface as they come over the wire; docs/ and /openapi.json document them. */

/** A decimal string in whole units, without exponent. */
export type Decimal = string;
/** ISO-8601 in UTC. */
export type IsoTime = string;
export type OutcomeIndex = 0 | 1;
export type Side = 'BUY' | 'SELL';
/** Every kind of order, as GET /config lists them. */
export const ORDER_TYPES = ['GTC', 'IOC', 'FOK', 'POST_ONLY', 'MARKET'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];
export type SelfTradePrevention = 'NONE' | 'CANCEL_TAKER' | 'CANCEL_MAKER' | 'CANCEL_BOTH';
/** The asset of a fee: collateral for a SELL, the bought token for a BUY. */
export type FeeAsset = 'COLLATERAL' | 'YES' | 'NO';
export type MatchType = 'COMPLEMENTARY' | 'MINT' | 'MERGE';
export type OrderStatus = 'OPEN' | 'PARTIALLY_FILLED' | 'FILLED' | 'CANCELLED' | 'EXPIRED' | 'INVALIDATED';
export type OrderReason =
  | 'USER'
  | 'CANCEL_ALL'
  | 'IOC_REMAINDER'
  | 'MARKET_REMAINDER'
  | 'SELF_TRADE'
  | 'MATCH_LIMIT'
  | 'MARKET_CLOSED'
  | 'EXPIRED'
  | 'NONCE'
  | 'FUNDS'
  | 'DISCONNECT'
  | 'REPLACED'
  | 'SETTLEMENT_FAILED';
export type SettlementStatus = 'MATCHED' | 'SUBMITTED' | 'CONFIRMED' | 'RETRYING' | 'FAILED';
export type MarketStatus = 'DRAFT' | 'OPEN' | 'PAUSED' | 'CLOSED' | 'RESOLVED' | 'VOIDED';
export type MarketSort = 'volume24h' | 'volume' | 'liquidity' | 'createdAt' | 'closesAt';
export type Timeframe = '1h' | '6h' | '1d' | '1w' | '1m' | 'all';

/** Newest first by default; the cursor is opaque. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** A time range of a list, and its direction. */
export interface Period {
  /** Epoch milliseconds; excludes earlier rows. */
  readonly since?: number | undefined;
  /** Epoch milliseconds; excludes later rows. */
  readonly until?: number | undefined;
  /** Oldest first with `asc`; newest first by default. */
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface MarketsQuery extends PageQuery {
  readonly status?: Exclude<MarketStatus, 'DRAFT'> | undefined;
  readonly category?: string | undefined;
  readonly tag?: string | undefined;
  readonly q?: string | undefined;
  readonly sort?: MarketSort | undefined;
}

export interface OrdersQuery extends PageQuery {
  /** `open` is OPEN and PARTIALLY_FILLED. */
  readonly status?: OrderStatus | 'open' | undefined;
  readonly marketId?: string | undefined;
  readonly side?: Side | undefined;
  /** Only orders with this client order id. */
  readonly clientOrderId?: string | undefined;
}

export type { Problem } from './types-problem';

export interface Eip712Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

export type Eip712Types = Readonly<
  Record<string, readonly { readonly name: string; readonly type: string }[]>
>;

export interface Eip712 {
  readonly domain: Eip712Domain;
  readonly primaryType: string;
  /** Types for libraries that make the type of the domain themselves, such as ethers. */
  readonly types: Eip712Types;
  /** Types for `eth_signTypedData_v4`. */
  readonly typesWithDomain?: Eip712Types;
}

export interface ExchangeConfig {
  readonly network: 'mainnet' | 'testnet';
  readonly chainId: number;
  readonly publicBaseUrl: string;
  readonly eip712: Eip712;
  readonly contracts: Readonly<Record<'exchange' | 'collateral' | 'conditionalTokens', string>>;
  readonly funds: 'paper' | 'chain';
  /** The number of shards that the markets are spread over. */
  readonly shards: number;
  readonly signatureTypes: readonly number[];
  /** Only with funds on a chain. */
  readonly chain?: ChainConfig;
  readonly mode: 'NORMAL' | 'CANCEL_ONLY' | 'HALTED';
  /** The operator's message about the mode. */
  readonly message: string | null;
  readonly durability: string;
  /** Names the unbroken history of the data: when it changes, earlier acknowledged writes may be missing. */
  readonly epoch: string;
  readonly limits: ExchangeLimits;
}

export interface Market {
  readonly id: string;
  readonly slug: string;
  readonly conditionId: string;
  readonly questionId: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly imageUrl: string | null;
  /** The URL of the page that decides the result. */
  readonly resolutionSource: string | null;
  readonly event: { readonly slug: string; readonly title: string } | null;
  readonly status: MarketStatus;
  /** Yes, then No. */
  readonly outcomes: readonly {
    readonly index: OutcomeIndex;
    readonly name: string;
    readonly tokenId: string;
    readonly price: Decimal | null;
  }[];
  readonly tickSize: Decimal;
  readonly lotSize: Decimal;
  readonly minOrderSize: Decimal;
  readonly feeRateBps: number;
  readonly bestBid: Decimal | null;
  readonly bestAsk: Decimal | null;
  readonly midpoint: Decimal | null;
  readonly spread: Decimal | null;
  readonly lastTradePrice: Decimal | null;
  readonly volume: Decimal;
  readonly volume24h: Decimal;
  /** Change of the first outcome: the last trade less the price 24 hours ago. */
  readonly priceChange24h: Decimal | null;
  readonly liquidity: Decimal;
  readonly openInterest: Decimal;
  readonly resolution: {
    readonly outcomeIndex: OutcomeIndex | null;
    readonly payouts: readonly Decimal[];
    readonly resolvedAt: IsoTime;
    /** A URL. */
    readonly evidence: string | null;
    /** From then on holders are paid, and the result is final. */
    readonly payoutAt: IsoTime;
  } | null;
  readonly createdAt: IsoTime;
  readonly closesAt: IsoTime | null;
  readonly resolvedAt: IsoTime | null;
  readonly sequence: number;
}

export interface Category {
  readonly slug: string;
  readonly name: string;
  readonly count: number;
}

export interface OrderbookLevel {
  readonly price: Decimal;
  readonly size: Decimal;
  readonly orders: number;
}

/** Best price first on both sides; the top level is the Yes book. */
export interface Orderbook {
  readonly marketId: string;
  readonly conditionId: string;
  readonly sequence: number;
  readonly timestamp: number;
  readonly tickSize: Decimal;
  readonly bids: readonly OrderbookLevel[];
  readonly asks: readonly OrderbookLevel[];
  readonly outcomes: readonly {
    readonly index: OutcomeIndex;
    readonly tokenId: string;
    readonly bids: readonly OrderbookLevel[];
    readonly asks: readonly OrderbookLevel[];
  }[];
  readonly lastTradePrice: Decimal | null;
  readonly checksum: string;
}

export interface Ticker {
  readonly marketId: string;
  readonly conditionId: string;
  readonly sequence: number;
  readonly timestamp: number;
  readonly outcomes: readonly {
    readonly index: OutcomeIndex;
    readonly name: string;
    readonly tokenId: string;
    readonly bestBid: Decimal | null;
    readonly bestBidSize: Decimal | null;
    readonly bestAsk: Decimal | null;
    readonly bestAskSize: Decimal | null;
    readonly midpoint: Decimal | null;
    readonly spread: Decimal | null;
    readonly lastTradePrice: Decimal | null;
    readonly volume24h: Decimal;
    readonly priceChange24h: Decimal | null;
  }[];
}

export interface PricePoint {
  /** Epoch seconds. */
  readonly t: number;
  readonly p: Decimal;
}

export interface Candle {
  /** Epoch seconds. */
  readonly t: number;
  readonly o: Decimal;
  readonly h: Decimal;
  readonly l: Decimal;
  readonly c: Decimal;
  readonly v: Decimal;
}

/** Oldest first; the top level is Yes. */
export interface PriceHistory {
  readonly marketId: string;
  readonly timeframe: Timeframe;
  /** Seconds of a bucket. */
  readonly interval: number;
  readonly history: readonly PricePoint[];
  readonly outcomes: readonly {
    readonly index: OutcomeIndex;
    readonly tokenId: string;
    readonly history: readonly PricePoint[];
  }[];
  readonly candles: readonly Candle[];
}

/** `side`, `outcomeIndex`, `tokenId` and `price` are the taker's. */
export interface Trade extends ChainSettlement {
  readonly id: string;
  readonly sequence: number;
  readonly marketId: string;
  readonly conditionId: string;
  readonly outcomeIndex: OutcomeIndex;
  readonly tokenId: string;
  readonly side: Side;
  readonly price: Decimal;
  readonly size: Decimal;
  readonly value: Decimal;
  readonly matchType: MatchType;
  readonly makerOrderHash: string;
  readonly takerOrderHash: string;
  readonly matchedAt: IsoTime;
  readonly settlementStatus: SettlementStatus;
  readonly transactionHash: string | null;
}

/** Everything that an order ticket shows, of one moment. */
export interface Trading {
  readonly market: Market;
  readonly orderbook: Orderbook;
  readonly ticker: Ticker;
  readonly recentTrades: readonly Trade[];
  readonly eip712: Eip712;
  readonly approvals: {
    readonly collateral: { readonly token: string; readonly spender: string };
    readonly conditionalTokens: { readonly token: string; readonly operator: string };
  };
  readonly limits: {
    readonly tickSize: Decimal;
    readonly lotSize: Decimal;
    readonly minOrderSize: Decimal;
    readonly maxOrderSize: Decimal;
    readonly feeRateBps: number;
    readonly orderTypes: readonly OrderType[];
  };
  readonly serverTime: number;
  readonly sequence: number;
}
