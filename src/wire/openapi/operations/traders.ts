import { PATHS } from '../../paths';
import { emptyShape } from '../../requests';
import { ACTIVITY, OWN_TRADE, POSITION } from '../examples/traders';
import { cursor, limit, type Operations, query } from '../operation';
import { choice, text } from '../schema';
import { idempotencyKey } from './account';

const ofMarket = query('marketId', 'Only this market: id, slug or condition id.', text(), '81cqi70o');
const paged = [limit(50, 200), cursor];
const pageOf = (schema: string, description: string, example: unknown) => ({
  description,
  schema,
  example: { data: [example], nextCursor: null },
});

/** What a wallet is to others, and its own books. */
export const TRADER_OPERATIONS: Operations = {
  [`POST ${PATHS.myNonce}`]: {
    id: 'raiseNonce',
    tag: 'Account',
    summary: 'One nonce higher: every older order is invalid',
    description:
      'Answered when no open order below the new nonce is left; they are `INVALIDATED`, reason `NONCE`. Orders are signed with the new one from now on.',
    bearer: 'required',
    limited: true,
    parameters: [idempotencyKey],
    body: { shape: emptyShape, example: {}, optional: true },
    success: { description: 'The nonce to sign with.', schema: 'Nonce', example: { nonce: '1' } },
    codes: ['HALTED'],
  },
  [`GET ${PATHS.myPositions}`]: {
    id: 'listMyPositions',
    tag: 'Account',
    summary: 'Positions, the one opened last first',
    description:
      'One for each outcome the wallet ever held, by average cost: what is sold takes its share of the cost with it. Splitting and merging count one half for each outcome; fees are part of the cost and of the proceeds.',
    bearer: 'required',
    limited: true,
    parameters: [
      query(
        'status',
        'Only those that still hold tokens, or only those that do not.',
        choice(['open', 'closed']),
        'open',
      ),
      ofMarket,
      ...paged,
    ],
    success: pageOf('PositionPage', 'A page of positions.', POSITION),
  },
  [`GET ${PATHS.myTrades}`]: {
    id: 'listMyTrades',
    tag: 'Account',
    summary: "The wallet's trades, newest first",
    description:
      'The trade as everybody sees it, in the terms of its taker, the role of the wallet, and `own`: what its own order had of it. Who trades with itself has two lines.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged],
    success: pageOf('OwnTradePage', 'A page of trades.', OWN_TRADE),
  },
  [`GET ${PATHS.myActivity}`]: {
    id: 'listMyActivity',
    tag: 'Account',
    summary: 'Everything that moved the balances, newest first',
    description:
      'Trades, splits, merges, faucet and payouts. The `changes` of all lines and the first grant add up to the balances. Orders that did not trade are in `GET /me/orders`.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged],
    success: pageOf('ActivityPage', 'A page of lines.', ACTIVITY),
  },
};
