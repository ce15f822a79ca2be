import { MARKET_STATUSES } from '../../../exchange/market';
import { MARKET } from '../../../wire/documents/openapi/examples/market';
import { ORDER } from '../../../wire/documents/openapi/examples/orders';
import { LISTED_AT, MARKET_ID, MATCHED_MS, MODE } from '../../../wire/documents/openapi/examples/story';
import { cursor, limit, type Operations, query } from '../../../wire/documents/openapi/operation';
import { choice, text } from '../../../wire/documents/openapi/schema';
import { PAGE_SIZES } from '../../../wire/pages';
import { PATHS } from '../../../wire/paths';
import { CONSOLE_PATHS } from './paths';

/** The reads of the page for operators. */
export const CONSOLE_OPERATIONS: Operations = {
  [`GET ${CONSOLE_PATHS.overview}`]: {
    id: 'getOverview',
    tag: 'Operators',
    summary: 'The state of the exchange',
    description:
      'Mode, web processes, memory and durability of Redis, how far the readers of the outbox are behind, the settlements that are not confirmed, the last audit, whether of the command line or of `GET /admin/audit`, and what needs a look.',
    bearer: 'admin',
    limited: true,
    success: {
      description: 'The state.',
      schema: 'Overview',
      example: {
        ...MODE,
        replicas: 2,
        redis: { usedBytes: 52_428_800, maxBytes: null, durability: 'always', eviction: 'noeviction' },
        warnings: [{ name: 'backup', level: 'red', detail: 'has never succeeded' }],
        outbox: {
          length: 1_200,
          added: 48_000,
          readers: [{ reader: 'broadcast', unprocessed: 0, seconds: 0 }],
        },
        settlements: { unconfirmed: 0, failed: 0, oldestSeconds: null },
        lastAudit: { succeededAt: LISTED_AT, failedAt: null },
        timestamp: MATCHED_MS,
      },
    },
  },
  [`GET ${PATHS.adminMarkets}`]: {
    id: 'listAllMarkets',
    tag: 'Operators',
    summary: 'All markets, drafts included',
    description:
      'Markets that have ended and are not resolved come first, then the newest. `ENDED` lists only those: closed ones, and ones whose closing time has passed. A page is of the list as it is at that moment. With several shards, the markets of a shard that does not answer are listed as they were when it last answered.',
    bearer: 'admin',
    limited: true,
    parameters: [
      query('status', 'Only those.', choice(['ENDED', ...MARKET_STATUSES]), 'ENDED'),
      query('q', 'Part of the question, slug or id.', text(), 'rain'),
      limit(PAGE_SIZES.markets),
      cursor,
    ],
    success: {
      description: 'A page of markets.',
      schema: 'OperatorMarketPage',
      example: { data: [MARKET], nextCursor: null },
    },
  },
  [`GET ${CONSOLE_PATHS.resolution}`]: {
    id: 'previewResolution',
    tag: 'Operators',
    summary: 'The effect that resolving a market would have',
    description:
      'Its holders, whom the result would pay and how much, and the open orders that would be cancelled, at this moment. Without `outcomeIndex` the market would be voided. Nothing is changed.',
    bearer: 'admin',
    limited: true,
    parameters: [query('outcomeIndex', 'The result; none for a void.', choice(['0', '1']), '0')],
    success: {
      description: 'The effect.',
      schema: 'ResolutionPreview',
      example: {
        marketId: MARKET_ID,
        outcomeIndex: 0,
        holders: 812,
        winners: 401,
        payout: '14200',
        orders: 96,
      },
    },
    codes: ['MARKET_NOT_FOUND'],
  },
  [`GET ${CONSOLE_PATHS.accountOrders}`]: {
    id: 'listAccountOrders',
    tag: 'Operators',
    summary: "A wallet's orders, newest first",
    description: 'As `GET /me/orders` lists them to the wallet, without the signed orders.',
    bearer: 'admin',
    limited: true,
    parameters: [limit(PAGE_SIZES.orders), cursor],
    success: {
      description: 'A page of orders.',
      schema: 'OrderPage',
      example: { data: [ORDER], nextCursor: null },
    },
  },
};
