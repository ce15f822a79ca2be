import { SETTLEMENT_STATUSES } from '../../../exchange/status';
import { PATHS } from '../../paths';
import { emptyShape } from '../../requests';
import { newMarketShape } from '../../requests-admin';
import { MARKET } from '../examples/market';
import { SETTLEMENT } from '../examples/orders';
import { CLOSES_AT, QUESTION, QUESTION_ID } from '../examples/story';
import { cursor, limit, type Operation, type Operations, query } from '../operation';
import { choice, text } from '../schema';

/** A step in a market's life. */
const step = (id: string, summary: string, description: string, status: string): Operation => ({
  id,
  tag: 'Operators',
  summary,
  description,
  bearer: 'admin',
  body: { shape: emptyShape, example: {}, optional: true },
  success: {
    description: 'The market as it now is.',
    schema: 'Market',
    example: { ...MARKET, status },
  },
  codes: ['MARKET_NOT_FOUND', 'MARKET_NOT_OPEN'],
});

export const ADMIN_OPERATIONS: Operations = {
  [`POST ${PATHS.adminMarkets}`]: {
    id: 'createMarket',
    tag: 'Operators',
    summary: 'List a market',
    description:
      'Everything but the question has a default. It is open at once, or a draft with `draft: true`. With `questionId` and `oracle` given, its ids are the same on every deployment of a network.',
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
        questionId: QUESTION_ID,
      },
    },
    success: {
      status: 201,
      description: 'The market.',
      schema: 'Market',
      example: {
        ...MARKET,
        outcomes: MARKET.outcomes.map((outcome) => ({ ...outcome, price: null })),
        bestBid: null,
        bestAsk: null,
        midpoint: null,
        spread: null,
        lastTradePrice: null,
        volume: '0',
        volume24h: '0',
        liquidity: '0',
        openInterest: '0',
        sequence: 0,
      },
    },
    codes: ['INVALID_ADDRESS'],
  },
  [`POST ${PATHS.adminOpen}`]: step('openMarket', 'Open a draft', 'Orders are taken from now on.', 'OPEN'),
  [`POST ${PATHS.adminPause}`]: step(
    'pauseMarket',
    'Take cancels only',
    'Orders stay in the book and can be cancelled; none is taken or matched.',
    'PAUSED',
  ),
  [`POST ${PATHS.adminResume}`]: step('resumeMarket', 'Open a paused market again', 'As it was.', 'OPEN'),
  [`POST ${PATHS.adminClose}`]: step(
    'closeMarket',
    'Close a market',
    'For good: every resting order is cancelled with the reason `MARKET_CLOSED`.',
    'CLOSED',
  ),
  [`GET ${PATHS.adminSettlements}`]: {
    id: 'listSettlements',
    tag: 'Operators',
    summary: 'What became of the matches, newest first',
    description: 'The signed orders and the amounts are what `matchOrders` of the exchange contract takes.',
    bearer: 'admin',
    limited: true,
    parameters: [
      query('status', 'Only those with this status.', choice(SETTLEMENT_STATUSES), 'CONFIRMED'),
      query('marketId', 'Only those of this market: id, slug or condition id.', text(), '81cqi70o'),
      limit(50, 200),
      cursor,
    ],
    success: {
      description: 'A page of settlements.',
      schema: 'SettlementPage',
      example: { data: [SETTLEMENT], nextCursor: null },
    },
  },
};
