import { crc32 } from 'node:zlib';
import { ADMIN_TOKEN } from './settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type OpenMarket,
  openMarket,
  type Trader,
} from './trader';
import { startWebReplicas, type WebReplicas } from './web-replicas';

/** A market with two traders, a trade and a book, and the answers of every read about it. */
export interface WeatherMarket {
  readonly exchange: WebReplicas;
  readonly domain: Domain;
  readonly market: OpenMarket;
  readonly alice: Trader;
  readonly bob: Trader;
  readonly makerHash: string;
  readonly takerHash: string;
}

export const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const CLOSES_AT = '2031-01-01T00:00:00.000Z';
export const limit = (side: Limit['side'], outcome: 0 | 1, pips: number, lots: number): Limit => ({
  side,
  outcome,
  pips,
  lots,
});

/** Bob sells 40 Yes at 0.61 and 10 at 0.64; Alice takes 30, and bids 0.59 for 20. */
export async function openWeatherMarket(): Promise<WeatherMarket> {
  const exchange = await startWebReplicas();
  const { client } = exchange;
  const domain = await domainOf(client);
  const market = await openMarket(client, ADMIN_TOKEN, {
    question: 'Will it rain?',
    description: 'By the gauge on the roof.',
    category: 'weather',
    tags: ['rain', 'roof'],
    closesAt: CLOSES_AT,
  });
  const alice = createTrader(client, domain);
  const bob = createTrader(client, domain);
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  const maker = await bob.submit(market, limit('SELL', 0, 6_100, 4_000));
  await bob.submit(market, limit('SELL', 0, 6_400, 1_000));
  const taker = await alice.submit(market, limit('BUY', 0, 6_200, 3_000), { clientOrderId: 'a.1' });
  await alice.submit(market, limit('BUY', 0, 5_900, 2_000));
  const { orderHash: makerHash } = maker.body;
  const { orderHash: takerHash } = taker.body;
  return { exchange, domain, market, alice, bob, makerHash, takerHash };
}

export const marketBody = (market: OpenMarket) => ({
  id: market.id,
  slug: market.slug,
  conditionId: market.conditionId,
  questionId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  question: 'Will it rain?',
  description: 'By the gauge on the roof.',
  category: 'weather',
  tags: ['rain', 'roof'],
  imageUrl: null,
  resolutionSource: null,
  event: null,
  status: 'OPEN',
  outcomes: [
    { index: 0, name: 'Yes', tokenId: market.outcomes[0]?.tokenId, price: '0.6' },
    { index: 1, name: 'No', tokenId: market.outcomes[1]?.tokenId, price: '0.4' },
  ],
  tickSize: '0.01',
  lotSize: '0.01',
  minOrderSize: '0.01',
  feeRateBps: 0,
  bestBid: '0.59',
  bestAsk: '0.61',
  midpoint: '0.6',
  spread: '0.02',
  lastTradePrice: '0.61',
  volume: '18.3',
  volume24h: '18.3',
  priceChange24h: '0',
  liquidity: '24.3',
  openInterest: '100',
  resolution: null,
  createdAt: ISO,
  closesAt: CLOSES_AT,
  resolvedAt: null,
  sequence: 5,
});

export const bookBody = (market: OpenMarket) => ({
  marketId: market.id,
  conditionId: market.conditionId,
  sequence: 5,
  timestamp: expect.any(Number),
  tickSize: '0.01',
  bids: [{ price: '0.59', size: '20', orders: 1 }],
  asks: [
    { price: '0.61', size: '10', orders: 1 },
    { price: '0.64', size: '10', orders: 1 },
  ],
  outcomes: [
    {
      index: 0,
      tokenId: market.outcomes[0]?.tokenId,
      bids: [{ price: '0.59', size: '20', orders: 1 }],
      asks: [
        { price: '0.61', size: '10', orders: 1 },
        { price: '0.64', size: '10', orders: 1 },
      ],
    },
    {
      index: 1,
      tokenId: market.outcomes[1]?.tokenId,
      bids: [
        { price: '0.39', size: '10', orders: 1 },
        { price: '0.36', size: '10', orders: 1 },
      ],
      asks: [{ price: '0.41', size: '20', orders: 1 }],
    },
  ],
  lastTradePrice: '0.61',
  checksum: crc32('5|b:0.59:20|a:0.61:10,0.64:10').toString(16).padStart(8, '0'),
});

export const tickerBody = (market: OpenMarket) => ({
  marketId: market.id,
  conditionId: market.conditionId,
  sequence: 5,
  timestamp: expect.any(Number),
  outcomes: [
    {
      index: 0,
      name: 'Yes',
      tokenId: market.outcomes[0]?.tokenId,
      bestBid: '0.59',
      bestBidSize: '20',
      bestAsk: '0.61',
      bestAskSize: '10',
      midpoint: '0.6',
      spread: '0.02',
      lastTradePrice: '0.61',
      volume24h: '18.3',
      priceChange24h: '0',
    },
    {
      index: 1,
      name: 'No',
      tokenId: market.outcomes[1]?.tokenId,
      bestBid: '0.39',
      bestBidSize: '10',
      bestAsk: '0.41',
      bestAskSize: '20',
      midpoint: '0.4',
      spread: '0.02',
      lastTradePrice: '0.39',
      volume24h: '18.3',
      priceChange24h: '0',
    },
  ],
});

export const tradeBody = ({ market, makerHash, takerHash }: WeatherMarket) => ({
  id: `${market.id}-4-0`,
  sequence: 4,
  marketId: market.id,
  conditionId: market.conditionId,
  outcomeIndex: 0,
  tokenId: market.outcomes[0]?.tokenId,
  side: 'BUY',
  price: '0.61',
  size: '30',
  value: '18.3',
  matchType: 'COMPLEMENTARY',
  makerOrderHash: makerHash,
  takerOrderHash: takerHash,
  matchedAt: ISO,
  settlementStatus: 'MATCHED',
  transactionHash: null,
});
