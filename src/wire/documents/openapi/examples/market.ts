import {
  ALICE_HASH,
  BOB_HASH,
  CLOSES_AT,
  COLLATERAL,
  CONDITION_ID,
  CONDITIONAL_TOKENS,
  EXCHANGE,
  LISTED_AT,
  MARKET_ID,
  MATCHED_AT,
  MATCHED_MS,
  NO_TOKEN,
  QUESTION,
  QUESTION_ID,
  SEQUENCE,
  TRADE_ID,
  YES_TOKEN,
} from './story';

const names = { marketId: MARKET_ID, conditionId: CONDITION_ID };

export const EVENT = { slug: 'rain-2027-03-01', title: 'Where does it rain on 1 March?' };

export const MARKET = {
  id: MARKET_ID,
  slug: 'lisbon-rain-2027-03-01',
  conditionId: CONDITION_ID,
  questionId: QUESTION_ID,
  question: QUESTION,
  description: 'Yes if the station at Geofísico reports at least 0.1 mm.',
  category: 'weather',
  tags: ['lisbon', 'rain'],
  imageUrl: null,
  resolutionSource: 'https://www.ipma.pt/en/otempo/obs.superficie/',
  event: EVENT,
  status: 'OPEN',
  outcomes: [
    { index: 0, name: 'Yes', tokenId: YES_TOKEN, price: '0.63' },
    { index: 1, name: 'No', tokenId: NO_TOKEN, price: '0.37' },
  ],
  tickSize: '0.01',
  lotSize: '0.01',
  minOrderSize: '1',
  feeRateBps: 0,
  bestBid: '0.62',
  bestAsk: '0.64',
  midpoint: '0.63',
  spread: '0.02',
  lastTradePrice: '0.6',
  volume: '24',
  volume24h: '24',
  priceChange24h: null,
  liquidity: '124.8',
  openInterest: '40',
  resolution: null,
  createdAt: LISTED_AT,
  closesAt: CLOSES_AT,
  resolvedAt: null,
  sequence: SEQUENCE,
};

export const ORDERBOOK = {
  ...names,
  sequence: SEQUENCE,
  timestamp: MATCHED_MS,
  tickSize: '0.01',
  bids: [
    { price: '0.62', size: '60', orders: 1 },
    { price: '0.61', size: '120', orders: 2 },
  ],
  asks: [{ price: '0.64', size: '40', orders: 1 }],
  outcomes: [
    {
      index: 0,
      tokenId: YES_TOKEN,
      bids: [
        { price: '0.62', size: '60', orders: 1 },
        { price: '0.61', size: '120', orders: 2 },
      ],
      asks: [{ price: '0.64', size: '40', orders: 1 }],
    },
    {
      index: 1,
      tokenId: NO_TOKEN,
      bids: [{ price: '0.36', size: '40', orders: 1 }],
      asks: [
        { price: '0.38', size: '60', orders: 1 },
        { price: '0.39', size: '120', orders: 2 },
      ],
    },
  ],
  lastTradePrice: '0.6',
  checksum: 'aee41204',
};

export const TICKER = {
  ...names,
  sequence: SEQUENCE,
  timestamp: MATCHED_MS,
  outcomes: [
    {
      index: 0,
      name: 'Yes',
      tokenId: YES_TOKEN,
      bestBid: '0.62',
      bestBidSize: '60',
      bestAsk: '0.64',
      bestAskSize: '40',
      midpoint: '0.63',
      spread: '0.02',
      lastTradePrice: '0.6',
      volume24h: '24',
      priceChange24h: null,
    },
    {
      index: 1,
      name: 'No',
      tokenId: NO_TOKEN,
      bestBid: '0.36',
      bestBidSize: '40',
      bestAsk: '0.38',
      bestAskSize: '60',
      midpoint: '0.37',
      spread: '0.02',
      lastTradePrice: '0.4',
      volume24h: '24',
      priceChange24h: null,
    },
  ],
};

export const TRADE = {
  id: TRADE_ID,
  sequence: SEQUENCE,
  ...names,
  outcomeIndex: 0,
  tokenId: YES_TOKEN,
  side: 'BUY',
  price: '0.6',
  size: '40',
  value: '24',
  matchType: 'MINT',
  makerOrderHash: BOB_HASH,
  takerOrderHash: ALICE_HASH,
  matchedAt: MATCHED_AT,
  settlementStatus: 'CONFIRMED',
  transactionHash: null,
};

const BUCKET = 1_801_483_200;
export const PRICE_HISTORY = {
  marketId: MARKET_ID,
  timeframe: '1d',
  interval: 300,
  history: [{ t: BUCKET, p: '0.6' }],
  outcomes: [
    { index: 0, tokenId: YES_TOKEN, history: [{ t: BUCKET, p: '0.6' }] },
    { index: 1, tokenId: NO_TOKEN, history: [{ t: BUCKET, p: '0.4' }] },
  ],
  candles: [{ t: BUCKET, o: '0.6', h: '0.6', l: '0.6', c: '0.6', v: '24' }],
};

export const CANDLES = {
  marketId: MARKET_ID,
  interval: '5m',
  outcomeIndex: 0,
  candles: [{ t: BUCKET, o: '0.6', h: '0.6', l: '0.6', c: '0.6', v: '40', n: 1 }],
};

const uint256 = 'uint256';
const ORDER_TYPE = [
  { name: 'salt', type: uint256 },
  { name: 'maker', type: 'address' },
  { name: 'signer', type: 'address' },
  { name: 'taker', type: 'address' },
  { name: 'tokenId', type: uint256 },
  { name: 'makerAmount', type: uint256 },
  { name: 'takerAmount', type: uint256 },
  { name: 'expiration', type: uint256 },
  { name: 'nonce', type: uint256 },
  { name: 'feeRateBps', type: uint256 },
  { name: 'side', type: 'uint8' },
  { name: 'signatureType', type: 'uint8' },
];
export const EIP712 = {
  domain: { name: 'Market CTF Exchange', version: '1', chainId: 97, verifyingContract: EXCHANGE },
  primaryType: 'Order',
  types: { Order: ORDER_TYPE },
  typesWithDomain: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: uint256 },
      { name: 'verifyingContract', type: 'address' },
    ],
    Order: ORDER_TYPE,
  },
};

export const CONTRACTS = {
  exchange: EXCHANGE,
  collateral: COLLATERAL,
  conditionalTokens: CONDITIONAL_TOKENS,
};

export const TRADING = {
  market: MARKET,
  orderbook: ORDERBOOK,
  ticker: TICKER,
  recentTrades: [TRADE],
  eip712: EIP712,
  approvals: {
    collateral: { token: COLLATERAL, spender: EXCHANGE },
    conditionalTokens: { token: CONDITIONAL_TOKENS, operator: EXCHANGE },
  },
  limits: {
    tickSize: '0.01',
    lotSize: '0.01',
    minOrderSize: '1',
    maxOrderSize: '1000000000',
    feeRateBps: 0,
    orderTypes: ['GTC', 'IOC', 'FOK', 'POST_ONLY', 'MARKET'],
  },
  serverTime: MATCHED_MS,
  sequence: SEQUENCE,
};
