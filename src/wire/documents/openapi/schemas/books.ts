import { CANDLE_INTERVALS } from '../../../answers/candles';
import { IDS_MAX } from '../../../queries';
import { array, choice, integer, type Json, nullable, object, page, ref, text } from '../schema';
import { CHAIN_SETTLEMENT, IN_CHAIN_SETTLEMENT } from './chain';

const maybePrice = nullable(ref('Price'));
const seconds = integer('The time in seconds since 1970.');
const levels = array(ref('Level'));
/** The fields of a candle: its start, and its first, highest, lowest and last price. */
const prices = { t: seconds, o: ref('Price'), h: ref('Price'), l: ref('Price'), c: ref('Price') };
const points = array(object({ t: seconds, p: ref('Price') }));

/** Members of a trade; a wallet's own trade has one more. */
export const TRADE_MEMBERS: Readonly<Record<string, Json>> = {
  id: ref('TradeId'),
  sequence: ref('Sequence'),
  marketId: ref('MarketId'),
  conditionId: ref('Hash'),
  outcomeIndex: ref('OutcomeIndex'),
  tokenId: ref('TokenId'),
  side: ref('Side'),
  price: ref('Price'),
  size: ref('Size'),
  value: ref('Money'),
  matchType: ref('MatchType'),
  makerOrderHash: ref('Hash'),
  takerOrderHash: ref('Hash'),
  matchedAt: ref('Time'),
  settlementStatus: ref('SettlementStatus'),
  transactionHash: ref('TransactionHash'),
  ...CHAIN_SETTLEMENT,
};

/** The reads of a market's page. */
export const BOOK_SCHEMAS: Readonly<Record<string, Json>> = {
  Level: object({
    price: ref('Price'),
    size: ref('Size'),
    orders: integer('The number of orders at this price.'),
  }),
  Checksum: text('The CRC-32 of the book; docs/use/real-time.md shows how to compute it.', {
    pattern: '^[0-9a-f]{8}$',
  }),
  Orderbook: object({
    marketId: ref('MarketId'),
    conditionId: ref('Hash'),
    sequence: ref('Sequence'),
    timestamp: ref('EpochMs'),
    tickSize: ref('Price'),
    bids: levels,
    asks: levels,
    outcomes: array(
      object({ index: ref('OutcomeIndex'), tokenId: ref('TokenId'), bids: levels, asks: levels }),
      { minItems: 2, maxItems: 2 },
    ),
    lastTradePrice: maybePrice,
    checksum: ref('Checksum'),
  }),
  Ticker: object({
    marketId: ref('MarketId'),
    conditionId: ref('Hash'),
    sequence: ref('Sequence'),
    timestamp: ref('EpochMs'),
    outcomes: array(
      object({
        index: ref('OutcomeIndex'),
        name: text(),
        tokenId: ref('TokenId'),
        bestBid: maybePrice,
        bestBidSize: nullable(ref('Size')),
        bestAsk: maybePrice,
        bestAskSize: nullable(ref('Size')),
        midpoint: nullable(ref('Midpoint')),
        spread: maybePrice,
        lastTradePrice: maybePrice,
        volume24h: ref('Money'),
        priceChange24h: nullable(ref('PriceChange')),
      }),
      { minItems: 2, maxItems: 2 },
    ),
  }),
  Orderbooks: object({ data: array(ref('Orderbook'), { maxItems: IDS_MAX }) }),
  Tickers: object({ data: array(ref('Ticker'), { maxItems: IDS_MAX }) }),
  PriceHistory: object({
    marketId: ref('MarketId'),
    timeframe: ref('Timeframe'),
    interval: integer('The length of a bucket in seconds.'),
    history: points,
    outcomes: array(object({ index: ref('OutcomeIndex'), tokenId: ref('TokenId'), history: points }), {
      minItems: 2,
      maxItems: 2,
    }),
    candles: array(
      object({
        ...prices,
        v: ref('Money'),
      }),
    ),
  }),
  Candles: object({
    marketId: ref('MarketId'),
    interval: choice(CANDLE_INTERVALS),
    outcomeIndex: ref('OutcomeIndex'),
    candles: array(
      object({
        ...prices,
        v: ref('Size'),
        n: integer('The number of trades.'),
      }),
    ),
  }),
  Trade: object(TRADE_MEMBERS, IN_CHAIN_SETTLEMENT),
  TradePage: page(ref('Trade')),
};
