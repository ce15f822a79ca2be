import { SETTLEMENT_STATUSES } from '../../../../exchange/status';
import { PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { newMarketShape } from '../../../requests/operator';
import { emptyShape } from '../../../requests/orders';
import { MARKET } from '../examples/market';
import { SETTLEMENT } from '../examples/orders';
import { CLOSES_AT, QUESTION, QUESTION_ID } from '../examples/story';
import { cursor, limit, type Operation, type Operations, query } from '../operation';
import { choice, text } from '../schema';

type MarketStep = Pick<Operation, 'id' | 'summary' | 'description'> &
  Partial<Pick<Operation, 'body' | 'codes'>>;

/** An action on a market; `now` contains its changes of the example market. */
const step = (operation: MarketStep, now: Partial<Record<keyof typeof MARKET, unknown>>): Operation => ({
  tag: 'Operators',
  bearer: 'admin',
  body: { shape: emptyShape, example: {}, optional: true },
  success: { description: 'The market as it now is.', schema: 'Market', example: { ...MARKET, ...now } },
  codes: ['MARKET_NOT_FOUND', 'MARKET_NOT_OPEN'],
  ...operation,
});

/** The book is now empty. */
const EMPTY_BOOK = {
  bestBid: null,
  bestAsk: null,
  midpoint: null,
  spread: null,
  liquidity: '0',
  sequence: MARKET.sequence + 1,
};

export const ADMIN_OPERATIONS: Operations = {
  [`POST ${PATHS.adminMarkets}`]: {
    id: 'createMarket',
    tag: 'Operators',
    summary: 'Create a market',
    description:
      'Everything but the question has a default; that of `minOrderSize` is one share, rounded up to whole lots. Markets with the same `event.slug` belong to one event, under one title. It is open at once, or a draft with `draft: true`. With `questionId` and `oracle` given, its ids are the same on every deployment of a network.',
    bearer: 'admin',
    body: {
      shape: newMarketShape,
      example: {
        question: QUESTION,
        slug: MARKET.slug,
        description: MARKET.description,
        category: 'weather',
        tags: ['lisbon', 'rain'],
        tickSize: '0.01',
        minOrderSize: '1',
        closesAt: CLOSES_AT,
        resolutionSource: MARKET.resolutionSource,
        event: MARKET.event,
        questionId: QUESTION_ID,
      },
    },
    success: {
      status: 201,
      description: 'The market.',
      schema: 'OperatorMarket',
      example: {
        ...MARKET,
        outcomes: MARKET.outcomes.map((outcome) => ({ ...outcome, price: null })),
        ...EMPTY_BOOK,
        lastTradePrice: null,
        volume: '0',
        volume24h: '0',
        openInterest: '0',
        sequence: 0,
      },
    },
    codes: ['INVALID_ADDRESS'],
  },
  [`POST ${PATHS.adminOpen}`]: step(
    { id: 'openMarket', summary: 'Open a draft', description: 'The market accepts orders from now on.' },
    { status: 'OPEN' },
  ),
  [`POST ${PATHS.adminPause}`]: step(
    {
      id: 'pauseMarket',
      summary: 'Pause a market: cancels only',
      description:
        'Orders stay in the book and can be cancelled; the market accepts no new orders, and none is matched.',
    },
    { status: 'PAUSED' },
  ),
  [`POST ${PATHS.adminResume}`]: step(
    {
      id: 'resumeMarket',
      summary: 'Resume a paused market',
      description: 'The market continues with the book that it had.',
    },
    { status: 'OPEN' },
  ),
  [`POST ${PATHS.adminClose}`]: step(
    {
      id: 'closeMarket',
      summary: 'Close a market',
      description: 'Cancels every resting order with the reason `MARKET_CLOSED`. This cannot be undone.',
    },
    { ...EMPTY_BOOK, status: 'CLOSED' },
  ),
  [`GET ${PATHS.adminSettlements}`]: {
    id: 'listSettlements',
    tag: 'Operators',
    summary: 'Settlements of the matches, newest first',
    description:
      'The signed orders and the amounts are the arguments of `matchOrders` of the exchange contract.',
    bearer: 'admin',
    limited: true,
    parameters: [
      query('status', 'Only those with this status.', choice(SETTLEMENT_STATUSES), 'CONFIRMED'),
      query('marketId', 'Only those of this market: id, slug or condition id.', text(), '81cqi70o'),
      limit(PAGE_SIZES.settlements),
      cursor,
    ],
    success: {
      description: 'A page of settlements.',
      schema: 'SettlementPage',
      example: { data: [SETTLEMENT], nextCursor: null },
    },
  },
};
