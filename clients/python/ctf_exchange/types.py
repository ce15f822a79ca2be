"""The answers of the exchange. Written by `npm run docs` from the OpenAPI document; do not edit."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


Mode = Literal["NORMAL", "CANCEL_ONLY", "HALTED"]
MarketStatus = Literal["DRAFT", "OPEN", "PAUSED", "CLOSED", "RESOLVED", "VOIDED"]
OutcomeIndex = Literal[0, 1]
Side = Literal["BUY", "SELL"]
MatchType = Literal["COMPLEMENTARY", "MINT", "MERGE"]
SettlementStatus = Literal["MATCHED", "SUBMITTED", "CONFIRMED", "RETRYING", "FAILED"]
FailureReason = Literal["NONCE", "SIGNATURE", "CANCELLED", "COLLATERAL", "ALLOWANCE", "TOKENS", "APPROVAL", "CALLBACK", "EXPIRED", "PAUSED", "NOT_OPERATOR", "INVALID_TOKEN", "OUT_OF_GAS", "UNKNOWN", "RESOLVED"]
OrderType = Literal["GTC", "IOC", "FOK", "POST_ONLY", "MARKET"]
OrderStatus = Literal["OPEN", "PARTIALLY_FILLED", "FILLED", "CANCELLED", "EXPIRED", "INVALIDATED"]
Reason = Optional[Literal["USER", "CANCEL_ALL", "IOC_REMAINDER", "MARKET_REMAINDER", "SELF_TRADE", "MATCH_LIMIT", "MARKET_CLOSED", "EXPIRED", "NONCE", "FUNDS", "DISCONNECT", "REPLACED", "SETTLEMENT_FAILED"]]
FeeAsset = Literal["COLLATERAL", "YES", "NO"]


class Config(TypedDict):
    network: Literal["mainnet", "testnet"]
    chainId: int
    publicBaseUrl: str
    eip712: Eip712
    contracts: ConfigContracts
    funds: Literal["paper", "chain"]
    shards: int
    signatureTypes: List[Literal[0, 3]]
    chain: NotRequired[ChainConfig]
    mode: Mode
    message: Optional[str]
    durability: Literal["replicated", "always", "everysec", "none", "unknown"]
    epoch: str
    limits: ConfigLimits


class Eip712(TypedDict):
    domain: Eip712Domain
    primaryType: Literal["Order"]
    types: Eip712Types
    typesWithDomain: Eip712TypesWithDomain


class Eip712Domain(TypedDict):
    name: str
    version: Literal["1"]
    chainId: int
    verifyingContract: str


class Eip712Types(TypedDict):
    Order: List[Eip712TypesOrder]


class Eip712TypesOrder(TypedDict):
    name: str
    type: str


class Eip712TypesWithDomain(TypedDict):
    EIP712Domain: List[Eip712TypesWithDomainEIP712Domain]
    Order: List[Eip712TypesWithDomainOrder]


class Eip712TypesWithDomainEIP712Domain(TypedDict):
    name: str
    type: str


class Eip712TypesWithDomainOrder(TypedDict):
    name: str
    type: str


class ConfigContracts(TypedDict):
    exchange: str
    collateral: str
    conditionalTokens: str


class ChainConfig(TypedDict):
    rpcUrl: Optional[str]
    approvals: List[WalletCall]
    confirmations: Optional[int]


class WalletCall(TypedDict):
    to: str
    data: str
    description: str


class ConfigLimits(TypedDict):
    bodyBytes: int
    batchBytes: int
    batchOrders: int
    cancelHashes: int
    maxOrderSize: str
    collateralDecimals: int
    rates: Optional[Dict[str, ConfigLimitsRates]]
    costs: ConfigLimitsCosts
    pace: Optional[ConfigLimitsPace]
    sockets: Optional[ConfigLimitsSockets]
    queryMembers: int


class ConfigLimitsRates(TypedDict):
    requests: int
    seconds: int
    burst: int
    by: Literal["ip", "maker", "wallet"]


class ConfigLimitsCosts(TypedDict):
    order: int
    dryRun: int
    refusedFok: int
    wrongSignature: int
    rowsPerPoint: int
    bytesPerSubmission: int


class ConfigLimitsPace(TypedDict):
    pointsPerSecond: int
    burst: int
    request: int
    refused: int
    rateLimited: int
    bytesPerPoint: int
    piecesPerPoint: int
    answerBytesPerPoint: int
    connections: int
    cut: int
    connection: int
    holdMs: int
    debtMs: int


class ConfigLimitsSockets(TypedDict):
    perIp: int
    messagesPerSecond: int
    bytesPerSecond: int
    refusals: int
    ordersUnderWay: int
    pace: ConfigLimitsSocketsPace


class ConfigLimitsSocketsPace(TypedDict):
    pointsPerSecond: int
    burst: int
    upgrade: int
    message: int
    refused: int
    rateLimited: int
    bytesPerPoint: int
    cut: int
    holdMs: int
    debtMs: int


class MarketPage(TypedDict):
    data: List[Market]
    nextCursor: Optional[str]


class Market(TypedDict):
    id: str
    slug: str
    conditionId: str
    questionId: str
    question: str
    description: str
    category: str
    tags: List[str]
    imageUrl: Optional[str]
    resolutionSource: Optional[str]
    event: Optional[MarketEvent]
    status: MarketStatus
    outcomes: List[Outcome]
    tickSize: str
    lotSize: str
    minOrderSize: str
    feeRateBps: int
    bestBid: Optional[str]
    bestAsk: Optional[str]
    midpoint: Optional[str]
    spread: Optional[str]
    lastTradePrice: Optional[str]
    volume: str
    volume24h: str
    priceChange24h: Optional[str]
    liquidity: str
    openInterest: str
    resolution: Optional[Resolution]
    createdAt: str
    closesAt: Optional[str]
    resolvedAt: Optional[str]
    sequence: int


class MarketEvent(TypedDict):
    slug: str
    title: str


class Outcome(TypedDict):
    index: OutcomeIndex
    name: str
    tokenId: str
    price: Optional[str]


class Resolution(TypedDict):
    outcomeIndex: Optional[OutcomeIndex]
    payouts: List[str]
    resolvedAt: str
    evidence: Optional[str]
    payoutAt: str


class Event(TypedDict):
    slug: str
    title: str
    markets: List[Market]


class Trading(TypedDict):
    market: Market
    orderbook: Orderbook
    ticker: Ticker
    recentTrades: List[Trade]
    eip712: Eip712
    approvals: TradingApprovals
    limits: TradingLimits
    serverTime: int
    sequence: int


class Orderbook(TypedDict):
    marketId: str
    conditionId: str
    sequence: int
    timestamp: int
    tickSize: str
    bids: List[Level]
    asks: List[Level]
    outcomes: List[OrderbookOutcomes]
    lastTradePrice: Optional[str]
    checksum: str


class Level(TypedDict):
    price: str
    size: str
    orders: int


class OrderbookOutcomes(TypedDict):
    index: OutcomeIndex
    tokenId: str
    bids: List[Level]
    asks: List[Level]


class Ticker(TypedDict):
    marketId: str
    conditionId: str
    sequence: int
    timestamp: int
    outcomes: List[TickerOutcomes]


class TickerOutcomes(TypedDict):
    index: OutcomeIndex
    name: str
    tokenId: str
    bestBid: Optional[str]
    bestBidSize: Optional[str]
    bestAsk: Optional[str]
    bestAskSize: Optional[str]
    midpoint: Optional[str]
    spread: Optional[str]
    lastTradePrice: Optional[str]
    volume24h: str
    priceChange24h: Optional[str]


class Trade(TypedDict):
    id: str
    sequence: int
    marketId: str
    conditionId: str
    outcomeIndex: OutcomeIndex
    tokenId: str
    side: Side
    price: str
    size: str
    value: str
    matchType: MatchType
    makerOrderHash: str
    takerOrderHash: str
    matchedAt: str
    settlementStatus: SettlementStatus
    transactionHash: Optional[str]
    blockNumber: NotRequired[int]
    failureReason: NotRequired[FailureReason]
    failedWallet: NotRequired[str]


class TradingApprovals(TypedDict):
    collateral: TradingApprovalsCollateral
    conditionalTokens: TradingApprovalsConditionalTokens


class TradingApprovalsCollateral(TypedDict):
    token: str
    spender: str


class TradingApprovalsConditionalTokens(TypedDict):
    token: str
    operator: str


class TradingLimits(TypedDict):
    tickSize: str
    lotSize: str
    minOrderSize: str
    maxOrderSize: str
    feeRateBps: int
    orderTypes: List[OrderType]


class TradePage(TypedDict):
    data: List[Trade]
    nextCursor: Optional[str]


class Candles(TypedDict):
    marketId: str
    interval: Literal["1m", "5m", "15m", "1h", "4h", "1d"]
    outcomeIndex: OutcomeIndex
    candles: List[CandlesCandles]


class CandlesCandles(TypedDict):
    t: int
    o: str
    h: str
    l: str
    c: str
    v: str
    n: int


class Order(TypedDict):
    orderHash: str
    marketId: str
    conditionId: str
    maker: str
    outcomeIndex: OutcomeIndex
    tokenId: str
    side: Side
    orderType: OrderType
    price: str
    size: str
    filledSize: str
    remainingSize: str
    cancelledSize: str
    averagePrice: Optional[str]
    settledSize: NotRequired[str]
    failedSize: NotRequired[str]
    status: OrderStatus
    reason: Reason
    expiration: str
    clientOrderId: Optional[str]
    createdAt: str
    updatedAt: str
    sequence: int
    fillCount: int
    fills: List[OrderFill]
    order: NotRequired[SignedOrder]


class OrderFill(TypedDict):
    tradeId: str
    price: str
    size: str
    role: Literal["MAKER", "TAKER"]
    matchType: MatchType
    fee: str
    feeAsset: FeeAsset
    matchedAt: str
    settlementStatus: SettlementStatus
    transactionHash: Optional[str]
    blockNumber: NotRequired[int]
    failureReason: NotRequired[FailureReason]
    failedWallet: NotRequired[str]


class SignedOrder(TypedDict):
    salt: str
    maker: str
    signer: str
    taker: str
    tokenId: str
    makerAmount: str
    takerAmount: str
    expiration: str
    nonce: str
    feeRateBps: str
    side: Literal[0, 1]
    signatureType: Literal[0, 3]
    signature: str


class OrderPage(TypedDict):
    data: List[Order]
    nextCursor: Optional[str]


class OrderFillPage(TypedDict):
    data: List[OrderFill]
    nextCursor: Optional[str]


class Submission(TypedDict):
    orderHash: str
    status: OrderStatus
    reason: Reason
    price: str
    size: str
    filledSize: str
    remainingSize: str
    cancelledSize: str
    averagePrice: Optional[str]
    fillCount: int
    fills: List[SubmissionFills]
    sequence: int
    createdAt: str


class SubmissionFills(TypedDict):
    tradeId: str
    price: str
    size: str
    matchType: MatchType
    makerOrderHash: str
    fee: str
    feeAsset: FeeAsset
    matchedAt: str


class Replacement(TypedDict):
    orderHash: str
    status: OrderStatus
    reason: Reason
    price: str
    size: str
    filledSize: str
    remainingSize: str
    cancelledSize: str
    averagePrice: Optional[str]
    fillCount: int
    fills: List[ReplacementFills]
    sequence: int
    createdAt: str
    replaced: Optional[ReplacementReplaced]


class ReplacementFills(TypedDict):
    tradeId: str
    price: str
    size: str
    matchType: MatchType
    makerOrderHash: str
    fee: str
    feeAsset: FeeAsset
    matchedAt: str


class ReplacementReplaced(TypedDict):
    orderHash: str
    filledSize: str
    cancelledSize: str


class BatchResults(TypedDict):
    results: List[Union[BatchResultsResults, Mapping[str, Any]]]


class BatchResultsResults(TypedDict):
    status: Literal[200]
    order: Submission


class Cancelled(TypedDict):
    orderHash: str
    status: OrderStatus
    cancelled: bool
    filledSize: str
    remainingSize: str
    cancelledSize: str
    sequence: int
    message: str


class CancelledAll(TypedDict):
    cancelled: List[str]
    count: int
    sequence: int
    message: str


class CancelledEverywhere(TypedDict):
    cancelled: List[str]
    count: int
    sequences: Dict[str, int]
    message: str


class CancelledList(TypedDict):
    cancelled: List[str]
    notCancelled: Dict[str, Literal["INVALID_REQUEST", "INVALID_JSON", "INVALID_ADDRESS", "INVALID_SIGNATURE", "INVALID_TICK", "INVALID_LOT", "PRICE_OUT_OF_RANGE", "SIZE_OUT_OF_RANGE", "ORDER_EXPIRED", "INVALID_EXPIRATION", "INVALID_TOKEN", "INVALID_TAKER", "INVALID_FEE_RATE", "INVALID_NONCE_VALUE", "UNSUPPORTED_SIGNATURE_TYPE", "INVALID_TIMEFRAME", "INVALID_LIMIT", "INVALID_CURSOR", "UNAUTHORIZED", "TOKEN_INVALID", "TOKEN_EXPIRED", "SIWE_INVALID", "NONCE_INVALID", "REFRESH_REUSED", "MAKER_MISMATCH", "FORBIDDEN", "WALLET_SUSPENDED", "MARKET_NOT_FOUND", "EVENT_NOT_FOUND", "ORDER_NOT_FOUND", "COMMENT_NOT_FOUND", "NOT_FOUND", "METHOD_NOT_ALLOWED", "REQUEST_TIMEOUT", "DUPLICATE_ORDER", "ORDER_NOT_CANCELLABLE", "MARKET_NOT_OPEN", "ON_CHAIN", "USERNAME_TAKEN", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "IDEMPOTENCY_KEY_REUSED", "FOK_NOT_FILLED", "POST_ONLY_WOULD_CROSS", "INSUFFICIENT_BALANCE", "BALANCE_LIMIT", "INSUFFICIENT_ALLOWANCE", "UNSETTLED_LIMIT", "SELF_TRADE", "DEADLINE_EXCEEDED", "RATE_LIMITED", "INTERNAL", "UNAVAILABLE", "CANCEL_ONLY", "HALTED", "BACKLOG"]]


class Balances(TypedDict):
    collateral: BalancesCollateral
    tokens: List[BalancesTokens]
    approvals: NotRequired[BalancesApprovals]
    asOfBlock: NotRequired[int]
    standing: NotRequired[BalancesStanding]
    owed: NotRequired[List[BalancesOwed]]


class BalancesCollateral(TypedDict):
    total: str
    available: str
    reserved: str
    unsettled: NotRequired[str]
    pending: NotRequired[str]


class BalancesTokens(TypedDict):
    marketId: str
    outcomeIndex: OutcomeIndex
    tokenId: str
    total: str
    available: str
    reserved: str
    unsettled: NotRequired[str]
    pending: NotRequired[str]


class BalancesApprovals(TypedDict):
    collateral: BalancesApprovalsCollateral
    conditionalTokens: BalancesApprovalsConditionalTokens


class BalancesApprovalsCollateral(TypedDict):
    allowance: str
    enough: bool


class BalancesApprovalsConditionalTokens(TypedDict):
    approved: bool


class BalancesStanding(TypedDict):
    unsettled: str
    unsettledLimit: Optional[str]
    committed: str
    committedLimit: Optional[str]
    settled: str
    growsAt: Optional[str]
    strikes: int
    failureReason: Optional[FailureReason]
    tradeId: Optional[str]
    suspendedUntil: Optional[str]


class BalancesOwed(TypedDict):
    marketId: Optional[str]
    outcomeIndex: Optional[OutcomeIndex]
    tokenId: Optional[str]
    amount: str
    call: WalletCall


class Portfolio(TypedDict):
    value: str
    cash: str
    reserved: str
    positionsValue: str
    pnl: PortfolioPnl
    history: List[PortfolioHistory]


class PortfolioPnl(TypedDict):
    total: str
    today: str


class PortfolioHistory(TypedDict):
    t: int
    value: str


class PositionPage(TypedDict):
    data: List[Position]
    nextCursor: Optional[str]


class Position(TypedDict):
    marketId: str
    conditionId: str
    outcomeIndex: OutcomeIndex
    tokenId: str
    size: str
    averagePrice: Optional[str]
    currentValue: Optional[str]
    realizedPnl: str
    unrealizedPnl: Optional[str]


class OwnTradePage(TypedDict):
    data: List[OwnTrade]
    nextCursor: Optional[str]


class OwnTrade(TypedDict):
    id: str
    sequence: int
    marketId: str
    conditionId: str
    outcomeIndex: OutcomeIndex
    tokenId: str
    side: Side
    price: str
    size: str
    value: str
    matchType: MatchType
    makerOrderHash: str
    takerOrderHash: str
    matchedAt: str
    settlementStatus: SettlementStatus
    transactionHash: Optional[str]
    blockNumber: NotRequired[int]
    failureReason: NotRequired[FailureReason]
    failedWallet: NotRequired[str]
    role: Literal["MAKER", "TAKER"]
    own: OwnTradeOwn


class OwnTradeOwn(TypedDict):
    orderHash: str
    clientOrderId: Optional[str]
    role: Literal["MAKER", "TAKER"]
    side: Side
    outcomeIndex: OutcomeIndex
    tokenId: str
    price: str
    size: str
    fee: str
    feeAsset: FeeAsset


class ActivityPage(TypedDict):
    data: List[Activity]
    nextCursor: Optional[str]


class Activity(TypedDict):
    id: str
    type: Literal["TRADE", "SPLIT", "MERGE", "FAUCET", "REDEEM", "REVERSAL", "GRANT"]
    occurredAt: str
    marketId: Optional[str]
    conditionId: Optional[str]
    side: Optional[Side]
    outcomeIndex: Optional[OutcomeIndex]
    role: Optional[Literal["MAKER", "TAKER"]]
    price: Optional[str]
    size: Optional[str]
    fee: Optional[str]
    feeAsset: Optional[FeeAsset]
    tradeId: Optional[str]
    orderHash: Optional[str]
    yesPrice: Optional[str]
    changes: ActivityChanges


class ActivityChanges(TypedDict):
    collateral: str
    yes: str
    no: str


class Holders(TypedDict):
    marketId: str
    outcomeIndex: OutcomeIndex
    count: int
    data: List[HoldersData]


class HoldersData(TypedDict):
    address: Optional[str]
    username: Optional[str]
    size: str


class MarketTradePage(TypedDict):
    data: List[MarketTrade]
    nextCursor: Optional[str]


class MarketTrade(TypedDict):
    id: str
    sequence: int
    marketId: str
    conditionId: str
    outcomeIndex: OutcomeIndex
    tokenId: str
    side: Side
    price: str
    size: str
    value: str
    matchType: MatchType
    makerOrderHash: str
    takerOrderHash: str
    matchedAt: str
    settlementStatus: SettlementStatus
    transactionHash: Optional[str]
    blockNumber: NotRequired[int]
    failureReason: NotRequired[FailureReason]
    failedWallet: NotRequired[str]
    taker: MarketTradeTaker
    maker: MarketTradeMaker


class MarketTradeTaker(TypedDict):
    address: Optional[str]
    username: Optional[str]


class MarketTradeMaker(TypedDict):
    address: Optional[str]
    username: Optional[str]


class Leaderboard(TypedDict):
    startsAt: str
    endsAt: str
    asOf: Optional[str]
    data: List[LeaderboardData]


class LeaderboardData(TypedDict):
    rank: int
    address: str
    username: Optional[str]
    pnl: str
    volume: str


class Nonce(TypedDict):
    nonce: str


class ApiKey(TypedDict):
    id: str
    name: str
    scopes: List[Literal["read", "cancel"]]
    createdAt: str
    expiresAt: Optional[str]


class NewApiKey(TypedDict):
    id: str
    name: str
    scopes: List[Literal["read", "cancel"]]
    createdAt: str
    expiresAt: Optional[str]
    key: str


class CommentPage(TypedDict):
    data: List[Comment]
    nextCursor: Optional[str]


class Comment(TypedDict):
    id: str
    marketId: str
    parentId: Optional[str]
    author: CommentAuthor
    body: str
    likes: int
    createdAt: str
    deleted: bool


class CommentAuthor(TypedDict):
    address: str
    username: Optional[str]
    avatarUrl: Optional[str]
