import { TIMEFRAMES } from '../../../answers/history';
import {
  array,
  choice,
  constant,
  described,
  integer,
  type Json,
  nullable,
  object,
  page,
  ref,
  text,
  withProperty,
} from '../schema';

const pair = (items: Json): Json => array(items, { minItems: 2, maxItems: 2 });
const price = ref('Price');
const maybePrice = nullable(price);

const ticketTerms = {
  eip712: ref('Eip712'),
};

const eip712Type = array(object({ name: text(), type: text() }));

/** The markets and their terms. */
const MARKET = described(
  object({
    id: ref('MarketId'),
    slug: text('A readable name, which can be used in place of the id.'),
    conditionId: ref('Hash'),
    questionId: ref('Hash'),
    question: text(),
    description: text(),
    category: text(),
    tags: array(text()),
    imageUrl: { type: ['string', 'null'] },
    resolutionSource: nullable(text('The URL of the page that decides the market.', { format: 'uri' })),
    event: nullable(ref('MarketEvent')),
    status: ref('MarketStatus'),
    outcomes: pair(ref('Outcome')),
    tickSize: price,
    lotSize: ref('Size'),
    minOrderSize: ref('Size'),
    feeRateBps: integer(),
    bestBid: maybePrice,
    bestAsk: maybePrice,
    midpoint: nullable(ref('Midpoint')),
    spread: maybePrice,
    lastTradePrice: maybePrice,
    volume: ref('Money'),
    volume24h: ref('Money'),
    priceChange24h: nullable(ref('PriceChange')),
    liquidity: ref('Money'),
    openInterest: ref('Money'),
    resolution: nullable(ref('Resolution')),
    createdAt: ref('Time'),
    closesAt: nullable(ref('Time')),
    resolvedAt: nullable(ref('Time')),
    sequence: ref('Sequence'),
  }),
  'A market. With funds on a chain `openInterest` is `0`, because wallets split and merge there without the exchange.',
);

export const MARKET_SCHEMAS: Readonly<Record<string, Json>> = {
  Outcome: object({
    index: ref('OutcomeIndex'),
    name: text(),
    tokenId: ref('TokenId'),
    price: nullable(ref('Midpoint')),
  }),
  Resolution: object({
    outcomeIndex: nullable(ref('OutcomeIndex')),
    payouts: pair(ref('Money')),
    resolvedAt: ref('Time'),
    evidence: nullable(text('The URL of a page that shows the result.', { format: 'uri' })),
    payoutAt: ref('Time'),
  }),
  MarketEvent: object({ slug: text(), title: text() }),
  Event: object({ slug: text(), title: text(), markets: array(ref('Market')) }),
  Market: MARKET,
  OperatorMarket: withProperty(
    MARKET,
    'shard',
    integer('Only with several shards: the number of the shard that has the market.'),
  ),
  OperatorMarketPage: page(ref('OperatorMarket')),
  MarketPage: page(ref('Market')),
  Categories: object({
    data: array(object({ slug: text(), name: text(), count: integer() })),
  }),
  Eip712: object({
    domain: object({
      name: text(),
      version: constant('1'),
      chainId: integer(),
      verifyingContract: ref('Address'),
    }),
    primaryType: constant('Order'),
    types: described(
      object({ Order: eip712Type }),
      'The types for libraries that make that of the domain themselves, such as ethers, which refuses one that is given.',
    ),
    typesWithDomain: described(
      object({ EIP712Domain: eip712Type, Order: eip712Type }),
      'The `types` of `eth_signTypedData_v4`: without `EIP712Domain` a wallet hashes an empty domain.',
    ),
  }),
  Trading: object({
    market: ref('Market'),
    orderbook: ref('Orderbook'),
    ticker: ref('Ticker'),
    recentTrades: array(ref('Trade'), { maxItems: 20 }),
    ...ticketTerms,
    approvals: object({
      collateral: object({ token: ref('Address'), spender: ref('Address') }),
      conditionalTokens: object({ token: ref('Address'), operator: ref('Address') }),
    }),
    limits: object({
      tickSize: price,
      lotSize: ref('Size'),
      minOrderSize: ref('Size'),
      maxOrderSize: ref('Size'),
      feeRateBps: integer(),
      orderTypes: array(ref('OrderType')),
    }),
    serverTime: ref('EpochMs'),
    sequence: ref('Sequence'),
  }),
  Timeframe: choice(TIMEFRAMES),
};
