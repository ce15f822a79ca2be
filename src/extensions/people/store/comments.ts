import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import { COMMENT, COMMENT_PLACE } from '../../../store/records/layout';
import { addressBytes, hashHex } from '../../../store/records/order';
import { type Keys, memoryOf } from '../../../store/redis/keys';
import { refusalCode, scriptRefusal } from '../../../store/redis/refusals';
import type { RunScript } from '../../../store/redis/scripts';
import type { ReplyOf } from '../../../store/redis/verbs';

/** A comment's market and its number there, counted from 1. */
export interface CommentRef {
  readonly marketId: MarketId;
  readonly number: number;
}

export interface Comment extends CommentRef {
  /** The number of the answered comment; 0 for none. */
  readonly parent: number;
  /** Lower-case hex. */
  readonly author: string;
  readonly username: string | null;
  readonly avatarUrl: string | null;
  readonly body: string;
  readonly likes: number;
  readonly createdAtMs: number;
  readonly deleted: boolean;
}

/** A comment that was written, now or by an earlier request with the same operation. */
export interface Written {
  readonly comment: Comment;
  readonly isReplay: boolean;
}

export interface CommentsQuery {
  readonly limit: number;
  readonly cursor: string | null;
}
export interface CommentsPage {
  readonly comments: Comment[];
  readonly next: string | null;
}

export interface Comments {
  /** Newest first; throws INVALID_CURSOR. A comment that is added during a walk comes before its beginning. */
  list(marketId: MarketId, page: CommentsQuery): Promise<CommentsPage>;
  /**
   * The wallet's comments in all markets that are not deleted, newest first; at most the latest thousand of each partition.
   * A comment that is added during a walk is not in its later pages. Throws INVALID_CURSOR.
   */
  ofWallet(address: string, page: CommentsQuery): Promise<CommentsPage>;
  /** Throws COMMENT_NOT_FOUND. */
  one(ref: CommentRef): Promise<Comment>;
  /**
   * add_comment: once for each `operation`. Throws FORBIDDEN for a muted author, COMMENT_NOT_FOUND when `parent` is not in the market, or was deleted, and
   * IDEMPOTENCY_KEY_REUSED when the operation had another text or parent.
   */
  add(
    marketId: MarketId,
    author: string,
    body: string,
    parent: number,
    operation: string | null,
  ): Promise<Written>;
  /** delete_comment: throws COMMENT_NOT_FOUND, and FORBIDDEN when `author` did not write it; null may delete any. */
  remove(ref: CommentRef, author: string | null): Promise<void>;
  /** like_comment: throws COMMENT_NOT_FOUND. */
  like(ref: CommentRef, address: string, likes: boolean): Promise<Comment>;
}

type Row = ReplyOf<'read_comments'>[number];

const CURSOR = /^[1-9][0-9]{0,9}$/;
/** The time in ms, the market and the number of the last comment of a page. */
const WALLET_CURSOR = /^([1-9][0-9]{0,13})-([0-9a-z]{8})-([1-9][0-9]{0,9})$/;

export function createComments({ run, keys }: { readonly run: RunScript; readonly keys: Keys }): Comments {
  async function read(marketId: MarketId, first: number, most: number): Promise<Comment[]> {
    const rows = await run('read_comments', [keys.comments(marketId)], [keys.prefix, marketId, first, most]);
    return rows.map((row) => commentOf(marketId, row));
  }

  async function list(marketId: MarketId, page: CommentsQuery): Promise<CommentsPage> {
    if (page.cursor !== null && !CURSOR.test(page.cursor)) throw new Refusal('INVALID_CURSOR');
    const found = await read(marketId, Number(page.cursor ?? 0), page.limit + 1);
    const next = found[page.limit];
    return { comments: found.slice(0, page.limit), next: next ? String(next.number) : null };
  }

  async function ofWallet(address: string, { limit, cursor }: CommentsQuery): Promise<CommentsPage> {
    const after = cursor === null ? '' : placeOf(cursor);
    const [index, args] = [
      keys.walletComments(addressBytes(address)),
      [keys.prefix, after, limit + 1] as const,
    ];
    const rows = await run('read_wallet_comments', [index], args);
    return latestOf(
      // A muted wallet still reads what it wrote.
      rows.map(([marketId, number, packed, likes, username, avatarUrl]) =>
        commentOf(marketId.toString(), [number, packed, likes, username, avatarUrl, 0]),
      ),
      limit,
    );
  }

  async function one({ marketId, number }: CommentRef): Promise<Comment> {
    const [found] = await read(marketId, number, 1);
    if (found?.number !== number) throw new Refusal('COMMENT_NOT_FOUND');
    return found;
  }

  async function add(
    marketId: MarketId,
    author: string,
    body: string,
    parent: number,
    operation: string | null,
  ): Promise<Written> {
    const wallet = addressBytes(author);
    const [code, number, replayed] = await run(
      'add_comment',
      [
        keys.comments(marketId),
        keys.operation(operation),
        keys.talk,
        keys.profile(wallet),
        keys.walletComments(wallet),
      ],
      [wallet, parent, body, memoryOf(operation), marketId],
    );
    if (code.toString() === 'FORBIDDEN')
      throw new Refusal('FORBIDDEN', 'an operator has muted this wallet; its comments are hidden');
    if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
    return { comment: await one({ marketId, number: Number(number) }), isReplay: replayed === 1 };
  }

  const scriptKeys = ({ marketId, number }: CommentRef) =>
    [keys.comments(marketId), keys.commentLikes(marketId, number), keys.talk] as const;

  async function remove(ref: CommentRef, author: string | null): Promise<void> {
    const wallet = author === null ? '' : addressBytes(author);
    const args = [ref.number, wallet, keys.prefix, ref.marketId] as const;
    accepted(await run('delete_comment', scriptKeys(ref), args));
  }

  async function like(ref: CommentRef, address: string, likes: boolean): Promise<Comment> {
    const args = [ref.number, addressBytes(address), likes ? 1 : 0] as const;
    accepted(await run('like_comment', scriptKeys(ref), args));
    return one(ref);
  }

  return { list, ofWallet, one, add, remove, like };
}

/** The first `limit` of the latest comments, which are one more when there is another page. */
export function latestOf(found: readonly Comment[], limit: number): CommentsPage {
  const comments = found.slice(0, limit);
  const last = comments.at(-1);
  const next = last && found.length > limit ? `${last.createdAtMs}-${last.marketId}-${last.number}` : null;
  return { comments, next };
}

/** The place that a cursor names. */
function placeOf(cursor: string): Buffer {
  const [, createdAtMs, marketId = '', number] = WALLET_CURSOR.exec(cursor) ?? [];
  if (!number) throw new Refusal('INVALID_CURSOR');
  const market = Buffer.from(marketId, 'latin1');
  return COMMENT_PLACE.pack({ createdAtMs: Number(createdAtMs), marketId: market, number: Number(number) });
}

function accepted(reply: Buffer): void {
  const code = reply.toString();
  if (code !== 'OK') throw scriptRefusal(code, []);
}

function commentOf(marketId: MarketId, [number, packed, likes, username, avatarUrl, muted]: Row): Comment {
  const head = COMMENT.read(packed);
  return {
    marketId,
    number,
    createdAtMs: head.createdAtMs,
    parent: head.parent,
    author: hashHex(head.author),
    // The comments of a muted wallet look like deleted ones.
    deleted: head.deleted === 1 || muted === 1,
    body: muted === 1 ? '' : packed.toString('utf8', COMMENT.bytes),
    likes,
    username: muted === 1 || username.length === 0 ? null : username.toString(),
    avatarUrl: muted === 1 || avatarUrl.length === 0 ? null : avatarUrl.toString(),
  };
}
