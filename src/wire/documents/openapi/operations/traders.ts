import { TIMEFRAMES } from '../../../answers/history';
import { PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { emptyShape } from '../../../requests/orders';
import { BIO_MAX, COMMENT_MAX, commentShape, profileShape } from '../../../requests/social';
import type { Shape } from '../../../shape';
import {
  ACTIVITY,
  COMMENT,
  COMMENT_BODY,
  ME,
  OWN_TRADE,
  PORTFOLIO,
  POSITION,
  PROFILE,
} from '../examples/traders';
import { cursor, limit, type Operations, period, query } from '../operation';
import { choice, type Json, jsonSchemaOf, text, withProperty } from '../schema';
import { idempotencyKey } from './account';

const ofMarket = query('marketId', 'Only this market: id, slug or condition id.', text(), '81cqi70o');
const paged = [limit(PAGE_SIZES.journal), cursor];
const pageOf = (schema: string, description: string, example: unknown) => ({
  description,
  schema,
  example: { data: [example], nextCursor: null },
});

/** Joi counts code points in a way that its schema does not show. */
function withLength(shape: Shape<unknown>, member: string, most: number): Json {
  const schema = jsonSchemaOf(shape) as Json & { readonly properties: Readonly<Record<string, Json>> };
  return withProperty(schema, member, { ...schema.properties[member], maxLength: most });
}

const comment = (description: string, status?: number) => ({
  description,
  schema: 'Comment',
  example: COMMENT,
  ...(status === undefined ? {} : { status }),
});
const nothing = { shape: emptyShape, example: {}, optional: true } as const;

/** Comments of a market. */
const COMMENT_OPERATIONS: Operations = {
  [`GET ${PATHS.comments}`]: {
    id: 'listComments',
    tag: 'Comments',
    summary: 'Comments of a market, newest first',
    description: 'The list includes replies; `parentId` is the comment that a reply answers.',
    limited: true,
    parameters: [limit(PAGE_SIZES.comments), cursor],
    success: pageOf('CommentPage', 'A page of comments.', COMMENT),
  },
  [`POST ${PATHS.comments}`]: {
    id: 'addComment',
    tag: 'Comments',
    summary: 'Post a comment or a reply',
    description:
      'A wallet may post five comments a minute, and an address 250 kB of them a day. A text has at most 50 line ends; it needs at least one visible character and may have no control characters except line breaks. `parentId` must be a comment of the same market that has not been deleted.',
    bearer: 'required',
    limited: true,
    parameters: [idempotencyKey],
    body: {
      shape: commentShape,
      example: COMMENT_BODY,
      schema: withLength(commentShape, 'body', COMMENT_MAX),
    },
    success: { ...comment('The comment.', 201), headers: ['Idempotent-Replayed'] },
    codes: ['COMMENT_NOT_FOUND', 'IDEMPOTENCY_KEY_REUSED', 'FORBIDDEN'],
  },
  [`DELETE ${PATHS.comment}`]: {
    id: 'deleteComment',
    tag: 'Comments',
    summary: 'Delete a comment of your own',
    description:
      'The comment keeps its place in the list, with an empty `body` and no likes. Deleting it again changes nothing.',
    bearer: 'required',
    limited: true,
    body: nothing,
    success: { status: 204, description: 'Deleted.' },
    codes: ['FORBIDDEN'],
  },
  [`POST ${PATHS.commentLike}`]: {
    id: 'likeComment',
    tag: 'Comments',
    summary: 'Like a comment',
    description: 'Each wallet counts once, even if it repeats the request.',
    bearer: 'required',
    limited: true,
    body: nothing,
    success: comment('The current comment.'),
  },
  [`DELETE ${PATHS.commentLike}`]: {
    id: 'unlikeComment',
    tag: 'Comments',
    summary: 'Remove a like',
    description: 'Without a like of the wallet, nothing changes.',
    bearer: 'required',
    limited: true,
    body: nothing,
    success: { status: 204, description: 'The like is removed.' },
  },
};

/** The wallet's public profile, and its own books. */
export const TRADER_OPERATIONS: Operations = {
  ...COMMENT_OPERATIONS,
  [`GET ${PATHS.me}`]: {
    id: 'getMe',
    tag: 'Account',
    summary: 'The signed-in wallet',
    description: 'The profile of the caller, and the expiry of the access token.',
    bearer: 'required',
    limited: true,
    success: { description: 'The wallet.', schema: 'Me', example: ME },
  },
  [`PATCH ${PATHS.myProfile}`]: {
    id: 'editProfile',
    tag: 'Account',
    summary: "Edit the caller's profile",
    description:
      "A member that is left out does not change; null clears it. A username belongs to one wallet, regardless of upper and lower case, and is free as soon as the wallet gives it up. Names that resemble the exchange's own (`admin`, `exchange_support`, `_null_`) are reserved.",
    bearer: 'required',
    limited: true,
    body: {
      shape: profileShape,
      example: { username: 'alice', bio: 'Rain, mostly.' },
      schema: withLength(profileShape, 'bio', BIO_MAX),
    },
    success: { description: 'The profile as it now stands.', schema: 'Profile', example: PROFILE },
    codes: ['USERNAME_TAKEN'],
  },
  [`GET ${PATHS.profile}`]: {
    id: 'getProfile',
    tag: 'Account',
    summary: "A wallet's public profile",
    description:
      'Every address has a profile. The profile of a wallet that the exchange has never seen is empty, and its `joinedAt` is null.',
    limited: true,
    success: { description: 'The profile.', schema: 'Profile', example: PROFILE },
  },
  [`POST ${PATHS.myNonce}`]: {
    id: 'raiseNonce',
    tag: 'Account',
    summary: 'Raise the nonce and invalidate older orders',
    description:
      'Every open order with a lower nonce becomes `INVALIDATED`, with the reason `NONCE`, before the answer is sent. Sign new orders with the new nonce. With funds on a chain the wallet raises the nonce itself: `ON_CHAIN` has the transaction.',
    bearer: 'required',
    limited: true,
    parameters: [idempotencyKey],
    body: { shape: emptyShape, example: {}, optional: true },
    success: {
      description: 'The nonce to sign with.',
      schema: 'Nonce',
      example: { nonce: '1' },
      headers: ['Idempotent-Replayed'],
    },
    codes: ['HALTED', 'ON_CHAIN'],
  },
  [`GET ${PATHS.myPositions}`]: {
    id: 'listMyPositions',
    tag: 'Account',
    summary: 'Positions, newest first',
    description:
      'One position for each outcome that the wallet has ever held, by average cost: a sale removes its share of the cost. A split or a merge counts a half for each outcome. Fees are part of the cost and of the proceeds.',
    bearer: 'required',
    limited: true,
    parameters: [
      query(
        'status',
        'Only positions that still hold tokens, or only those that do not.',
        choice(['open', 'closed']),
        'open',
      ),
      ofMarket,
      ...paged,
    ],
    success: pageOf('PositionPage', 'A page of positions.', POSITION),
  },
  [`GET ${PATHS.myPortfolio}`]: {
    id: 'getMyPortfolio',
    tag: 'Account',
    summary: 'What the wallet is worth, and was',
    description:
      'The value of cash, open orders and positions, the profit or loss, and the value over time: at the end of each bucket of the timeframe, with the last price of each market at that moment. The history goes back over the latest 5,000 lines of `GET /me/activity` at most. A request counts as 10 reads.',
    bearer: 'required',
    limited: true,
    parameters: [query('timeframe', 'Default `1d`.', choice(TIMEFRAMES), '1w')],
    success: { description: 'The portfolio.', schema: 'Portfolio', example: PORTFOLIO },
    codes: ['INVALID_TIMEFRAME'],
  },
  [`GET ${PATHS.myTrades}`]: {
    id: 'listMyTrades',
    tag: 'Account',
    summary: "The wallet's trades, newest first or oldest first",
    description:
      'Each line has the public trade, in the terms of its taker, the role of the wallet, and in `own` the side, outcome, price and fee of the wallet itself. A wallet that trades with itself has two lines.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged, ...period],
    success: pageOf('OwnTradePage', 'A page of trades.', OWN_TRADE),
  },
  [`GET ${PATHS.myActivity}`]: {
    id: 'listMyActivity',
    tag: 'Account',
    summary: 'Changes of the balances, newest first or oldest first',
    description:
      'The first grant, trades, splits, merges, payments of the faucet and payouts. The `changes` of all lines add up to the balances; the grant of a wallet that an older version saw first has no line. Orders that did not trade are in `GET /me/orders`.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged, ...period],
    success: pageOf('ActivityPage', 'A page of lines.', ACTIVITY),
  },
};
