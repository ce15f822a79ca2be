import {
  ALICE,
  BOB,
  MARKET_ID,
  MATCHED_AT,
  SIGNED_IN_AT,
} from '../../../wire/documents/openapi/examples/story';

export const PROFILE = {
  address: ALICE,
  username: 'alice',
  bio: 'Rain, mostly.',
  avatarUrl: null,
  joinedAt: SIGNED_IN_AT,
  hidden: false,
  portfolioPublic: false,
};

export const ME = {
  ...PROFILE,
  session: { issuedAt: SIGNED_IN_AT, expiresAt: '2027-02-01T12:15:00.000Z' },
};

export const COMMENT_BODY = { body: 'The gauge on the roof says 2 mm.', parentId: `${MARKET_ID}-c1` };

/** Bob answers Alice. */
export const COMMENT = {
  id: `${MARKET_ID}-c2`,
  marketId: MARKET_ID,
  parentId: `${MARKET_ID}-c1`,
  author: { address: BOB, username: 'bob', avatarUrl: null },
  body: 'The gauge on the roof says 2 mm.',
  likes: 1,
  createdAt: MATCHED_AT,
  deleted: false,
};
