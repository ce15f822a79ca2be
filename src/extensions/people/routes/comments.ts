import { checksumAddress } from '../../../auth/address';
import { Refusal } from '../../../exchange/errors';
import type { Context } from '../../../http/context';
import {
  type AnyEndpoint,
  type Call,
  type Endpoint,
  ok,
  okJson,
  parameter,
  read,
  walletOf,
} from '../../../http/endpoint';
import { clientAddress } from '../../../http/guard/client-address';
import type { CachedAnswers } from '../../../http/markets/cached-answers';
import { operationOf, replayedIf } from '../../../http/server/idempotency';
import { PAGE_SIZES } from '../../../wire/pages';
import { cursorOf, limitOf } from '../../../wire/queries';
import { emptyShape } from '../../../wire/requests/orders';
import type { Comment, CommentRef } from '../store/comments';
import type { People } from '../store/open';
import { presentComment } from '../wire/answers';
import { PEOPLE_PATHS } from '../wire/paths';
import { type CommentBody, commentShape, parseCommentId } from '../wire/requests';

/** Comments of a market. Every caller may read; a wallet writes, deletes its own and likes. */
export function commentEndpoints(
  { comments }: People,
  { limiter }: Context,
  cached: CachedAnswers,
): AnyEndpoint[] {
  const list = read(PEOPLE_PATHS.comments, async (call) => {
    const page = { limit: limitOf(call.query, PAGE_SIZES.comments), cursor: cursorOf(call.query) };
    const terms = await cached.publicMarketOf(parameter(call, 'id'));
    const json = await cached.json(
      await cached.talk(terms.id),
      `comments ${terms.id} ${page.limit} ${page.cursor ?? ''}`,
      () => comments.list(terms.id, page),
      ({ comments: found, next }) => ({ data: found.map(bodyOf), nextCursor: next }),
    );
    return okJson(json);
  });

  const mine = read(
    PEOPLE_PATHS.myComments,
    async (call) => {
      const page = { limit: limitOf(call.query, PAGE_SIZES.comments), cursor: cursorOf(call.query) };
      const { comments: found, next } = await comments.ofWallet(walletOf(call), page);
      return ok({ data: found.map(bodyOf), nextCursor: next });
    },
    'required',
  );

  const add: Endpoint<CommentBody> = {
    method: 'POST',
    path: PEOPLE_PATHS.comments,
    bearer: 'required',
    body: commentShape,
    handle: async (call) => {
      const wallet = walletOf(call);
      const terms = await cached.publicMarketOf(parameter(call, 'id'));
      await limiter.take('comments-by-ip', clientAddress(call.request), call.response);
      await limiter.take('comments', wallet, call.response);
      const { body, parentId = null } = call.body;
      await limiter.take(
        'comment-bytes',
        clientAddress(call.request),
        call.response,
        Buffer.byteLength(body),
      );
      const parent = parentId === null ? 0 : numberIn(terms.id, parentId);
      const operation = operationOf(call, [wallet, 'comment', terms.id]);
      const { comment, isReplay } = await comments.add(terms.id, wallet, body, parent, operation);
      return replayedIf(isReplay, { status: 201, body: bodyOf(comment) });
    },
  };

  const remove: Endpoint<unknown> = {
    method: 'DELETE',
    path: PEOPLE_PATHS.comment,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      await comments.remove(commentRefOf(call), walletOf(call));
      return { status: 204 };
    },
  };

  const like = (method: 'POST' | 'DELETE', handle: Endpoint<unknown>['handle']): Endpoint<unknown> => ({
    method,
    path: PEOPLE_PATHS.commentLike,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle,
  });
  const liked = like('POST', async (call) =>
    ok(bodyOf(await comments.like(commentRefOf(call), walletOf(call), true))),
  );
  const unliked = like('DELETE', async (call) => {
    await comments.like(commentRefOf(call), walletOf(call), false);
    return { status: 204 };
  });

  return [list, mine, add, remove, liked, unliked];
}

const bodyOf = (comment: Comment) => presentComment({ ...comment, address: checksumAddress(comment.author) });

export function commentRefOf(call: Call<unknown>): CommentRef {
  const ref = parseCommentId(parameter(call, 'comment_id'));
  if (!ref) throw new Refusal('COMMENT_NOT_FOUND');
  return ref;
}

/** A comment can only answer a comment of its own market. */
function numberIn(marketId: string, parentId: string): number {
  const ref = parseCommentId(parentId);
  if (ref?.marketId !== marketId)
    throw new Refusal(
      'COMMENT_NOT_FOUND',
      'parentId does not exist in this market; take the id of one of its comments',
    );
  return ref.number;
}
