import { MARKET_STATUSES } from '../../../../exchange/market';
import { CANDLE_INTERVALS } from '../../../answers/candles';
import { TIMEFRAMES } from '../../../answers/history';
import { MARKET_SORTS, PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { DEPTH_MAX, IDS_MAX, TEXT_MAX } from '../../../queries';
import { CANDLES, EVENT, MARKET, ORDERBOOK, PRICE_HISTORY, TICKER, TRADE, TRADING } from '../examples/market';
import { cursor, limit, type Operations, type Parameter, period, query } from '../operation';
import { choice, integer, text } from '../schema';

const LISTED = MARKET_STATUSES.filter((status) => status !== 'DRAFT');
const ids: Parameter = {
  ...query(
    'ids',
    `At most ${IDS_MAX} markets, each by its id, slug or condition id, separated by commas.`,
    text(),
    MARKET.id,
  ),
  required: true,
};
const depth = query(
  'depth',
  'The number of levels of each side; without it, all levels.',
  integer(undefined, { minimum: 1, maximum: DEPTH_MAX }),
);
/** Note of the operations that list markets. */
const AS_LAST =
  'With several shards, the markets of a shard that does not answer are listed as they were when it last answered.';
const filter = text(undefined, { maxLength: TEXT_MAX });

export const MARKET_OPERATIONS: Operations = {
  [`GET ${PATHS.markets}`]: {
    id: 'listMarkets',
    tag: 'Markets',
    summary: 'Markets, filtered and sorted',
    description: `The list never contains drafts. Reading it page by page neither repeats nor skips a market. ${AS_LAST}`,
    limited: true,
    parameters: [
      query('status', 'Only markets with this status.', choice(LISTED), 'OPEN'),
      query('category', 'Only markets of this category, by its slug.', filter, 'weather'),
      query('tag', 'Only markets with this tag.', filter, 'rain'),
      query(
        'q',
        'Only markets with all of these words in the question, the description or the slug.',
        filter,
        'rain lisbon',
      ),
      query(
        'sort',
        'The order of the list: highest first, or for `closesAt` soonest first.',
        {
          ...choice(MARKET_SORTS),
          default: 'volume24h',
        },
        'volume24h',
      ),
      limit(PAGE_SIZES.markets),
      cursor,
    ],
    success: {
      description: 'A page of markets.',
      schema: 'MarketPage',
      example: { data: [MARKET], nextCursor: null },
    },
  },
  [`GET ${PATHS.categories}`]: {
    id: 'listCategories',
    tag: 'Markets',
    summary: 'Categories with their numbers of markets',
    description: `The category with the most markets comes first. ${AS_LAST}`,
    limited: true,
    success: {
      description: 'All categories.',
      schema: 'Categories',
      example: { data: [{ slug: 'weather', name: 'Weather', count: 1 }] },
    },
  },
  [`GET ${PATHS.event}`]: {
    id: 'getEvent',
    tag: 'Markets',
    summary: 'The markets of an event',
    description: `Markets that belong together, the oldest first; an event has at most 50. Drafts are not listed. ${AS_LAST}`,
    limited: true,
    success: {
      description: 'The event.',
      schema: 'Event',
      example: { ...EVENT, markets: [MARKET] },
    },
  },
  [`GET ${PATHS.market}`]: {
    id: 'getMarket',
    tag: 'Markets',
    summary: 'One market',
    description:
      'The `price` of an outcome is the midpoint while the spread is at most 0.10, else the last trade, else null.',
    limited: true,
    success: { description: 'The market.', schema: 'Market', example: MARKET },
  },
  [`GET ${PATHS.trading}`]: {
    id: 'getTrading',
    tag: 'Markets',
    summary: 'A market with book, ticker and signing data at one moment',
    description:
      'The market, its book and ticker, the latest 20 trades, and the data to sign and to approve, all of the same moment.',
    limited: true,
    success: { description: 'The view.', schema: 'Trading', example: TRADING },
  },
  [`GET ${PATHS.orderbook}`]: {
    id: 'getOrderbook',
    tag: 'Markets',
    summary: 'The order book',
    description:
      'The top level has the Yes book, best price first on both sides; `outcomes` has both books, and that of No is the mirror image. The checksum covers the best 25 levels of each side.',
    limited: true,
    parameters: [
      depth,
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of the book you have.',
        schema: text(),
        example: '"1842"',
      },
    ],
    success: { description: 'The book.', schema: 'Orderbook', example: ORDERBOOK, headers: ['ETag'] },
    also: { 304: 'The book has not changed.' },
  },
  [`GET ${PATHS.orderbooks}`]: {
    id: 'listOrderbooks',
    tag: 'Markets',
    summary: 'The books of several markets',
    description:
      'The books come in the order of the request, each with its own `sequence`. If one of the markets does not exist, the answer is 404. Each book costs a point of the reads, or less with a `depth` below 50.',
    limited: true,
    parameters: [ids, depth],
    success: { description: 'The books.', schema: 'Orderbooks', example: { data: [ORDERBOOK] } },
  },
  [`GET ${PATHS.tickers}`]: {
    id: 'listTickers',
    tag: 'Markets',
    summary: 'The tickers of several markets',
    description:
      'The tickers come in the order of the request. If one of the markets does not exist, the answer is 404.',
    limited: true,
    parameters: [ids],
    success: { description: 'The tickers.', schema: 'Tickers', example: { data: [TICKER] } },
  },
  [`GET ${PATHS.ticker}`]: {
    id: 'getTicker',
    tag: 'Markets',
    summary: "Best prices, last price and the day's change",
    description:
      'The best price of an empty side is null; the midpoint is null unless both sides have orders.',
    limited: true,
    success: { description: 'The ticker of both outcomes.', schema: 'Ticker', example: TICKER },
  },
  [`GET ${PATHS.priceHistory}`]: {
    id: 'getPriceHistory',
    tag: 'Markets',
    summary: 'Prices over time',
    description:
      'Oldest first. A bucket without trades repeats the last price; there are no buckets before the first trade. The prices of Yes and No sum to 1 at each point.',
    limited: true,
    parameters: [
      query(
        'timeframe',
        'Buckets of 60, 300, 300, 1800, 10800 and 43200 s.',
        { ...choice(TIMEFRAMES), default: '1d' },
        '1d',
      ),
    ],
    success: { description: 'Points and candles.', schema: 'PriceHistory', example: PRICE_HISTORY },
  },
  [`GET ${PATHS.candles}`]: {
    id: 'listCandles',
    tag: 'Markets',
    summary: 'Candles with volume and number of trades',
    description:
      'Oldest first. A candle without trades repeats the last price, with `v` "0"; there are no candles before the first trade. `t` is the second at which a candle begins. With `from` you receive the first candles from then on, without it the last ones up to `to`. The current candle is not complete yet. Prices are those of the outcome: a price of No is 1 minus that of Yes.',
    limited: true,
    parameters: [
      query(
        'interval',
        'The length of a candle; days begin at midnight UTC.',
        { ...choice(CANDLE_INTERVALS), default: '1m' },
        '5m',
      ),
      query('from', 'Only candles that begin then or later, in seconds since 1970.', integer(), 1801483200),
      query('to', 'Only candles that begin then or before, in seconds since 1970.', integer(), 1801486800),
      query('outcomeIndex', '0 is Yes, 1 is No.', { ...choice(['0', '1']), default: '0' }, '0'),
      limit(PAGE_SIZES.candles),
    ],
    success: { description: 'The candles.', schema: 'Candles', example: CANDLES },
  },
  [`GET ${PATHS.trades}`]: {
    id: 'listTrades',
    tag: 'Markets',
    summary: 'Trades, newest first or oldest first',
    description:
      "One trade for each maker that an order met. Side, outcome, token and price are the taker's.",
    limited: true,
    parameters: [limit(PAGE_SIZES.trades), cursor, ...period],
    success: {
      description: 'A page of trades.',
      schema: 'TradePage',
      example: { data: [TRADE], nextCursor: null },
    },
  },
};
