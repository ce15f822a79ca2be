import { PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { emptyShape } from '../../../requests/orders';
import { BIO_MAX, COMMENT_MAX, commentShape, profileShape } from '../../../requests/social';
import type { Shape } from '../../../shape';
import { ACTIVITY, COMMENT, COMMENT_BODY, ME, OWN_TRADE, POSITION, PROFILE } from '../examples/traders';
import { cursor, limit, type Operations, period, query } from '../operation';
import { choice, type Json, jsonSchemaOf, text } from '../schema';
import { idempotencyKey } from './account';

const ofMarket = query('marketId', 'Only this market: id, slug or condition id.', text(), '81cqi70o');
const paged = [limit(PAGE_SIZES.journal), cursor];
const pageOf = (schema: string, description: string, example: unknown) => ({
  description,
  schema,
  example: { data: [example], nextCursor: null },
});

/** Joi counts code points in a way that its schema does not tell. */
function withLength(shape: Shape<unknown>, member: string, most: number): Json {
  const schema = jsonSchemaOf(shape) as Json & { readonly properties: Readonly<Record<string, Json>> };
  return {
    ...schema,
    properties: { ...schema.properties, [member]: { ...schema.properties[member], maxLength: most } },
  };
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
    description: 'Answers stand among them, with the `parentId` of what they answer.',
    limited: true,
    parameters: [limit(PAGE_SIZES.comments), cursor],
    success: pageOf('CommentPage', 'A page of comments.', COMMENT),
  },
  [`POST ${PATHS.comments}`]: {
    id: 'addComment',
    tag: 'Comments',
    summary: 'Post a comment or a reply',
    description:
      'At most five in a minute of one wallet. A text has no control characters but the end of a line, and something to see. `parentId` is a comment of the same market that was not deleted.',
    bearer: 'required',
    limited: true,
    parameters: [idempotencyKey],
    body: {
      shape: commentShape,
      example: COMMENT_BODY,
      schema: withLength(commentShape, 'body', COMMENT_MAX),
    },
    success: comment('The comment.', 201),
    codes: ['COMMENT_NOT_FOUND'],
  },
  [`DELETE ${PATHS.comment}`]: {
    id: 'deleteComment',
    tag: 'Comments',
    summary: 'Delete a comment of your own',
    description:
      'It keeps its place, with an empty `body` and without likes. Deleting it again changes nothing.',
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
    description: 'A wallet counts once, however often it asks.',
    bearer: 'required',
    limited: true,
    body: nothing,
    success: comment('The comment as it now stands.'),
  },
  [`DELETE ${PATHS.commentLike}`]: {
    id: 'unlikeComment',
    tag: 'Comments',
    summary: 'Remove a like',
    description: 'Changes nothing when the wallet did not like it.',
    bearer: 'required',
    limited: true,
    body: nothing,
    success: { status: 204, description: 'No longer liked.' },
  },
};

/** The wallet's public profile, and its own books. */
export const TRADER_OPERATIONS: Operations = {
  ...COMMENT_OPERATIONS,
  [`GET ${PATHS.me}`]: {
    id: 'getMe',
    tag: 'Account',
    summary: 'The signed-in wallet',
    description: 'The profile and the life of the access token.',
    bearer: 'required',
    limited: true,
    success: { description: 'The wallet.', schema: 'Me', example: ME },
  },
  [`PATCH ${PATHS.myProfile}`]: {
    id: 'editProfile',
    tag: 'Account',
    summary: "Edit the caller's profile",
    description:
      "What is left out stays as it is, null clears it. A username is one wallet's, whatever its case; the one given up is free at once. Names that sound like the exchange's own (`admin`, `exchange_support`, `_null_`) are nobody's.",
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
    description: 'Any address has a profile; one that never came says nothing, and has joined at no time.',
    limited: true,
    success: { description: 'The profile.', schema: 'Profile', example: PROFILE },
  },
  [`POST ${PATHS.myNonce}`]: {
    id: 'raiseNonce',
    tag: 'Account',
    summary: 'Raise the nonce and invalidate older orders',
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
    summary: 'Positions, newest first',
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
    summary: "The wallet's trades, newest first or oldest first",
    description:
      'The trade as everybody sees it, in the terms of its taker, the role of the wallet, and `own`: what its own order had of it. Who trades with itself has two lines.',
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
      'Trades, splits, merges, faucet and payouts. The `changes` of all lines and the first grant add up to the balances. Orders that did not trade are in `GET /me/orders`.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged, ...period],
    success: pageOf('ActivityPage', 'A page of lines.', ACTIVITY),
  },
};
