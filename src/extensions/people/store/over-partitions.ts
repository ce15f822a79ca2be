import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import type { Placement } from '../../../store/exchange';
import { partAt } from '../../../store/lists/list';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { type Comment, type Comments, latestOf } from './comments';
import type { Profiles } from './profiles';

interface CommentsOptions {
  readonly redis: RedisClient;
  /** Keys of the first partition, which has the profiles. */
  readonly keys: Keys;
  readonly placement: Pick<Placement, 'find' | 'partitionOf'>;
}

/** The comments of a market are in its partition, the names of their authors in the first one. */
export function commentsOverPartitions(
  parts: readonly Comments[],
  { redis, keys, placement }: CommentsOptions,
): Comments {
  async function named(comments: readonly Comment[], isOwn = false): Promise<Comment[]> {
    const authors = [...new Set(comments.map(({ author }) => author))];
    const profiles = await Promise.all(
      authors.map((author) => redis.hmget(keys.profile(addressBytes(author)), 'u', 'a', 'm')),
    );
    const names = new Map(authors.map((author, i) => [author, profiles[i]]));
    return comments.map((comment) => {
      const [username = null, avatarUrl = null, muted = null] = names.get(comment.author) ?? [];
      return isOwn || muted === null ? { ...comment, username, avatarUrl } : comment;
    });
  }

  async function nameOf(comment: Comment): Promise<Comment> {
    const [one = comment] = await named([comment]);
    return one;
  }

  /** A comment's id names its market, which may be any. */
  async function of(marketId: MarketId): Promise<Comments> {
    const partition = await placement.find(marketId);
    if (partition === null) throw new Refusal('COMMENT_NOT_FOUND');
    return partAt(parts, partition);
  }

  const partOf = async (marketId: MarketId): Promise<Comments> =>
    partAt(parts, await placement.partitionOf(marketId));

  return {
    async list(marketId, page) {
      const { comments, next } = await (await partOf(marketId)).list(marketId, page);
      return { comments: await named(comments), next };
    },
    async ofWallet(address, page) {
      // A wallet may write in a market whose shard has nothing else of it.
      const pages = await Promise.all(
        parts.map((part) => part.ofWallet(address, { ...page, limit: page.limit + 1 })),
      );
      const found = pages.flatMap(({ comments }) => comments).sort(newestFirst);
      const { comments, next } = latestOf(found, page.limit);
      return { comments: await named(comments, true), next };
    },
    one: async (ref) => nameOf(await (await of(ref.marketId)).one(ref)),
    async add(marketId, ...rest) {
      const { comment, isReplay } = await (await partOf(marketId)).add(marketId, ...rest);
      return { comment: await nameOf(comment), isReplay };
    },
    remove: async (ref, author) => (await of(ref.marketId)).remove(ref, author),
    like: async (ref, ...rest) => nameOf(await (await of(ref.marketId)).like(ref, ...rest)),
  };
}

const newestFirst = (a: Comment, b: Comment): number =>
  b.createdAtMs - a.createdAtMs ||
  (a.marketId < b.marketId ? 1 : a.marketId > b.marketId ? -1 : b.number - a.number);

/** Names, texts and pictures are in the first partition. */
export function profilesOverPartitions(
  parts: readonly Profiles[],
  placement: Pick<Placement, 'partitionsOf'>,
): Profiles {
  const first = partAt(parts, 0);

  async function profile(address: string) {
    const partitions = new Set(await placement.partitionsOf(address));
    const [shown, ...others] = await Promise.all([
      first.profile(address),
      ...[...partitions].map((partition) => partAt(parts, partition).profile(address)),
    ]);
    const joined = [shown, ...others].flatMap(({ joinedAtMs }) => (joinedAtMs === null ? [] : [joinedAtMs]));
    return { ...shown, joinedAtMs: joined.length === 0 ? null : Math.min(...joined) };
  }

  return {
    edit: first.edit,
    async moderate(address, change) {
      const { muted } = change;
      await first.moderate(address, change);
      // The script that adds a comment reads the profile of its own partition.
      if (muted !== undefined)
        await Promise.all(parts.slice(1).map((part) => part.moderate(address, { muted })));
    },
    profile,
  };
}
