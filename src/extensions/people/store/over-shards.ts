import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import { partAt } from '../../../store/lists/list';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { type Directory, partOf } from '../../../store/shards/directory';
import type { WalletShards } from '../../../store/verbs/wallet-shards';
import type { Comment, Comments } from './comments';
import type { Profiles } from './profiles';

interface CommentsOptions {
  readonly redis: RedisClient;
  /** Keys of the first shard, which has the profiles. */
  readonly keys: Keys;
  readonly directory: Directory;
}

/** The comments of a market are in its shard, the names of their authors in the first one. */
export function commentsOverShards(
  parts: readonly Comments[],
  { redis, keys, directory }: CommentsOptions,
): Comments {
  async function named(comments: readonly Comment[]): Promise<Comment[]> {
    const authors = [...new Set(comments.map(({ author }) => author))];
    const profiles = await Promise.all(
      authors.map((author) => redis.hmget(keys.profile(addressBytes(author)), 'u', 'a', 'm')),
    );
    const names = new Map(authors.map((author, i) => [author, profiles[i]]));
    return comments.map((comment) => {
      const [username = null, avatarUrl = null, muted = null] = names.get(comment.author) ?? [];
      return muted === null ? { ...comment, username, avatarUrl } : comment;
    });
  }

  async function nameOf(comment: Comment): Promise<Comment> {
    const [one = comment] = await named([comment]);
    return one;
  }

  /** A comment's id names its market, which may be any. */
  async function of(marketId: MarketId): Promise<Comments> {
    const shard = await directory.find(marketId);
    if (shard === null) throw new Refusal('COMMENT_NOT_FOUND');
    return partAt(parts, shard);
  }

  return {
    async list(marketId, page) {
      const { comments, next } = await (await partOf(directory, parts, marketId)).list(marketId, page);
      return { comments: await named(comments), next };
    },
    one: async (ref) => nameOf(await (await of(ref.marketId)).one(ref)),
    async add(marketId, ...rest) {
      const { comment, isReplay } = await (await partOf(directory, parts, marketId)).add(marketId, ...rest);
      return { comment: await nameOf(comment), isReplay };
    },
    remove: async (ref, author) => (await of(ref.marketId)).remove(ref, author),
    like: async (ref, ...rest) => nameOf(await (await of(ref.marketId)).like(ref, ...rest)),
  };
}

/** Names, texts and pictures are in the first shard. */
export function profilesOverShards(parts: readonly Profiles[], wallets: WalletShards): Profiles {
  const first = partAt(parts, 0);

  async function profile(address: string) {
    const shards = new Set(await wallets.shardsOf(address));
    const [shown, ...others] = await Promise.all([
      first.profile(address),
      ...[...shards].map((shard) => partAt(parts, shard).profile(address)),
    ]);
    const joined = [shown, ...others].flatMap(({ joinedAtMs }) => (joinedAtMs === null ? [] : [joinedAtMs]));
    return { ...shown, joinedAtMs: joined.length === 0 ? null : Math.min(...joined) };
  }

  return {
    edit: first.edit,
    async moderate(address, change) {
      const { muted } = change;
      await first.moderate(address, change);
      // The script that adds a comment reads the profile of its own shard.
      if (muted !== undefined)
        await Promise.all(parts.slice(1).map((part) => part.moderate(address, { muted })));
    },
    profile,
  };
}
