import { cursor, limit, type Operations } from '../../../wire/documents/openapi/operation';
import { idempotencyKey } from '../../../wire/documents/openapi/operations/account';
import { type Json, jsonSchemaOf, withProperty } from '../../../wire/documents/openapi/schema';
import { PAGE_SIZES } from '../../../wire/pages';
import { emptyShape } from '../../../wire/requests/orders';
import type { Shape } from '../../../wire/shape';
import { COMMENT, COMMENT_BODY, ME, PROFILE } from './examples';
import { PEOPLE_PATHS } from './paths';
import { BIO_MAX, COMMENT_MAX, commentShape, profileShape } from './requests';

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
export const COMMENT_OPERATIONS: Operations = {
  [`GET ${PEOPLE_PATHS.comments}`]: {
    id: 'listComments',
    tag: 'Comments',
    summary: 'Comments of a market, newest first',
    description: 'The list includes replies; `parentId` is the comment that a reply answers.',
    limited: true,
    parameters: [limit(PAGE_SIZES.comments), cursor],
    success: {
      description: 'A page of comments.',
      schema: 'CommentPage',
      example: { data: [COMMENT], nextCursor: null },
    },
  },
  [`POST ${PEOPLE_PATHS.comments}`]: {
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
  [`GET ${PEOPLE_PATHS.myComments}`]: {
    id: 'listMyComments',
    tag: 'Comments',
    summary: "The caller's own comments, newest first",
    description:
      'What the wallet wrote in all markets, without what was deleted: the latest 1,000 comments, which may be more with several shards. Comments that were written before the exchange had this list are not in it.',
    bearer: 'required',
    limited: true,
    parameters: [limit(PAGE_SIZES.comments), cursor],
    success: {
      description: 'A page of comments.',
      schema: 'CommentPage',
      example: { data: [COMMENT], nextCursor: null },
    },
  },
  [`DELETE ${PEOPLE_PATHS.comment}`]: {
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
  [`POST ${PEOPLE_PATHS.commentLike}`]: {
    id: 'likeComment',
    tag: 'Comments',
    summary: 'Like a comment',
    description: 'Each wallet counts once, even if it repeats the request.',
    bearer: 'required',
    limited: true,
    body: nothing,
    success: comment('The current comment.'),
  },
  [`DELETE ${PEOPLE_PATHS.commentLike}`]: {
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

/** The signed-in wallet, and the public profile of every wallet. */
export const PROFILE_OPERATIONS: Operations = {
  [`GET ${PEOPLE_PATHS.me}`]: {
    id: 'getMe',
    tag: 'Account',
    summary: 'The signed-in wallet',
    description: 'The profile of the caller, and the expiry of the access token.',
    bearer: 'required',
    limited: true,
    success: { description: 'The wallet.', schema: 'Me', example: ME },
  },
  [`PATCH ${PEOPLE_PATHS.myProfile}`]: {
    id: 'editProfile',
    tag: 'Account',
    summary: "Edit the caller's profile",
    description:
      "A member that is left out does not change; null clears it. A username belongs to one wallet, regardless of upper and lower case; the last one that a wallet gave up is another's after 30 days, an earlier one at once. Names that resemble the exchange's own (`admin`, `exchange_support`, `_null_`) are reserved.",
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
  [`GET ${PEOPLE_PATHS.profile}`]: {
    id: 'getProfile',
    tag: 'Account',
    summary: "A wallet's public profile",
    description:
      'Every address has a profile. The profile of a wallet that the exchange has never seen is empty, and its `joinedAt` is null.',
    limited: true,
    success: { description: 'The profile.', schema: 'Profile', example: PROFILE },
  },
};
