import { verb } from '../../store/redis/verbs';

type CommentRow = [
  number: number,
  packed: Buffer,
  likes: number,
  username: Buffer,
  avatarUrl: Buffer,
  muted: 0 | 1,
];

/** The scripts of lua/. */
export const PEOPLE_VERBS = {
  edit_profile: verb(['profile', 'usernames', 'talk', 'contestants'], 2, { args: true }).replies<Buffer>(),
  add_comment: verb(['comments', 'operation', 'talk', 'profile', 'walletComments'], 5).replies<
    [code: Buffer, number: Buffer, replayed?: 1]
  >(),
  delete_comment: verb(['comments', 'commentLikes', 'talk'], 4).replies<Buffer>(),
  like_comment: verb(['comments', 'commentLikes', 'talk'], 3).replies<Buffer>(),
  read_comments: verb(['comments'], 4).replies<CommentRow[]>(),
  read_wallet_comments: verb(['walletComments'], 3).replies<[marketId: Buffer, ...row: CommentRow][]>(),
};

type PeopleVerbs = typeof PEOPLE_VERBS;
declare module '../../store/redis/verbs' {
  interface Verbs extends PeopleVerbs {}
}
