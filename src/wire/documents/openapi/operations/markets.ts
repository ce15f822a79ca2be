import { MARKET_STATUSES } from '../../../../exchange/market';
import { CANDLE_INTERVALS } from '../../../answers/candles';
import { TIMEFRAMES } from '../../../answers/history';
import { MARKET_SORTS, PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { DEPTH_MAX, IDS_MAX, TEXT_MAX } from '../../../queries';
import { CANDLES, MARKET, ORDERBOOK, PRICE_HISTORY, TICKER, TRADE, TRADING } from '../examples/market';
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
  'Levels of each side; all without it.',
  integer(undefined, { minimum: 1, maximum: DEPTH_MAX }),
);
const filter = text(undefined, { maxLength: TEXT_MAX });

export const MARKET_OPERATIONS: Operations = {
  [`GET ${PATHS.markets}`]: {
    id: 'listMarkets',
    tag: 'Markets',
    summary: 'Markets, filtered and sorted',
    description: 'Drafts are never listed. Walking the list by cursor neither repeats nor skips a market.',
    limited: true,
    parameters: [
      query('status', 'Only markets with this status.', choice(LISTED), 'OPEN'),
      query('category', 'Only markets of this category, by its slug.', filter, 'weather'),
      query('tag', 'Only markets with this tag.', filter, 'rain'),
      query('q', 'Every word occurs in the question, the description or the slug.', filter, 'rain lisbon'),
      query(
        'sort',
        'Highest first; `closesAt` soonest first.',
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
    description: 'The fullest first.',
    limited: true,
    success: {
      description: 'All categories.',
      schema: 'Categories',
      example: { data: [{ slug: 'weather', name: 'Weather', count: 1 }] },
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
      'Market, book, ticker, the latest 20 trades, what to sign and what to approve: one consistent view.',
    limited: true,
    success: { description: 'The view.', schema: 'Trading', example: TRADING },
  },
  [`GET ${PATHS.orderbook}`]: {
    id: 'getOrderbook',
    tag: 'Markets',
    summary: 'The order book',
    description:
      'The Yes book at the top, best price first on both sides; `outcomes` has both books, that of No mirrored. The checksum covers the best 25 levels of each side.',
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
    also: { 304: 'The book is the one you have.' },
  },
  [`GET ${PATHS.orderbooks}`]: {
    id: 'listOrderbooks',
    tag: 'Markets',
    summary: 'The books of several markets',
    description:
      'In the order asked for. Each book is that of its market alone, under its own `sequence`; a market that is not there makes the answer 404. Each costs a point of the reads, or less with a `depth` below 50.',
    limited: true,
    parameters: [ids, depth],
    success: { description: 'The books.', schema: 'Orderbooks', example: { data: [ORDERBOOK] } },
  },
  [`GET ${PATHS.tickers}`]: {
    id: 'listTickers',
    tag: 'Markets',
    summary: 'The tickers of several markets',
    description: 'In the order asked for; a market that is not there makes the answer 404.',
    limited: true,
    parameters: [ids],
    success: { description: 'The tickers.', schema: 'Tickers', example: { data: [TICKER] } },
  },
  [`GET ${PATHS.ticker}`]: {
    id: 'getTicker',
    tag: 'Markets',
    summary: "Best prices, last price, day's change",
    description: 'An empty side is null, and so is a midpoint without both sides.',
    limited: true,
    success: { description: 'The ticker of both outcomes.', schema: 'Ticker', example: TICKER },
  },
  [`GET ${PATHS.priceHistory}`]: {
    id: 'getPriceHistory',
    tag: 'Markets',
    summary: 'Prices over time',
    description:
      'Oldest first; a bucket without trades carries the last price on, and before the first trade there is none. Yes and No sum to 1 at each point.',
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
      'Oldest first; a candle without trades carries the last price on with `v` "0", and before the first trade there is none. `t` is the second a candle begins with. With `from` these are the first candles from there on, without it the last ones up to `to`; the candle of now is still filling. Prices are those of the outcome: of No, what Yes leaves of 1.',
    limited: true,
    parameters: [
      query(
        'interval',
        'What a candle takes; days are those of UTC.',
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
    description: "One for each maker met. Side, outcome, token and price are the taker's.",
    limited: true,
    parameters: [limit(PAGE_SIZES.trades), cursor, ...period],
    success: {
      description: 'A page of trades.',
      schema: 'TradePage',
      example: { data: [TRADE], nextCursor: null },
    },
  },
};
