import {
  array,
  choice,
  described,
  flag,
  integer,
  type Json,
  nullable,
  object,
  page,
  ref,
  text,
} from '../../../wire/documents/openapi/schema';

const PROFILE = {
  address: ref('Address'),
  username: nullable(text()),
  bio: nullable(text()),
  avatarUrl: nullable(text()),
};

const SWITCHES = {
  hidden: flag(
    'True while the wallet has no address and no username among the holders and in the activity of markets.',
  ),
  portfolioPublic: flag(
    'True while everybody may read the positions and the portfolio of the wallet, and it is in the leaderboard unless it is `hidden`.',
  ),
};

const KEY_MEMBERS: Readonly<Record<string, Json>> = {
  id: text(undefined, { pattern: '^[0-9a-f]{16}$' }),
  name: text(),
  scopes: array(choice(['read', 'cancel']), { minItems: 1, maxItems: 2 }),
  createdAt: ref('Time'),
  expiresAt: nullable(ref('Time')),
};

export const PEOPLE_SCHEMAS: Readonly<Record<string, Json>> = {
  Profile: object({ ...PROFILE, joinedAt: nullable(ref('Time')), ...SWITCHES }),
  Me: object({
    ...PROFILE,
    joinedAt: ref('Time'),
    ...SWITCHES,
    session: object({
      issuedAt: ref('Time'),
      expiresAt: nullable(
        described(
          ref('Time'),
          'The time when the token or API key expires; it is null for an API key that does not expire.',
        ),
      ),
    }),
  }),
  CommentId: text('The id of a comment names its market and its number there.', {
    pattern: '^[0-9a-z]{8}-c[1-9][0-9]*$',
  }),
  Comment: object({
    id: ref('CommentId'),
    marketId: ref('MarketId'),
    parentId: nullable(described(ref('CommentId'), 'The comment it answers.')),
    author: object({ address: ref('Address'), username: PROFILE.username, avatarUrl: PROFILE.avatarUrl }),
    body: text('The text; it is empty when the comment was deleted.'),
    likes: integer('The number of wallets that like the comment.'),
    createdAt: ref('Time'),
    deleted: flag(),
  }),
  CommentPage: page(ref('Comment')),
  ApiKey: object(KEY_MEMBERS),
  ApiKeys: object({ data: array(ref('ApiKey')) }),
  NewApiKey: object({
    ...KEY_MEMBERS,
    key: text('The bearer itself; only this answer contains it, and the exchange does not store it.'),
  }),
  AdminAccount: object({
    address: ref('Address'),
    username: nullable(text()),
    bio: nullable(text()),
    avatarUrl: nullable(text()),
    joinedAt: nullable(ref('Time')),
    ...SWITCHES,
    muted: flag('True while an operator hides the comments and the profile of the wallet.'),
    balances: ref('Balances'),
    positions: integer('The number of outcomes of which the wallet holds tokens.'),
    openOrders: integer(),
  }),
};
