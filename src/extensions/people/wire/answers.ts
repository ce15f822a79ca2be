import type { Balances } from '../../../exchange/facts';
import { presentBalances } from '../../../wire/answers/account';
import { iso, isoOrNull } from '../../../wire/prices';
import { commentId } from './requests';

/** `address` checksummed, here and below. */
export interface ProfileFacts {
  readonly address: string;
  readonly username: string | null;
  readonly bio: string | null;
  readonly avatarUrl: string | null;
  readonly joinedAtMs: number | null;
  readonly muted: boolean;
  readonly hidden: boolean;
  readonly portfolioPublic: boolean;
}

/** The profile as the wallet itself and operators see it. */
export function presentProfile(facts: ProfileFacts) {
  const { address, username, bio, avatarUrl, joinedAtMs, hidden, portfolioPublic } = facts;
  return { address, username, bio, avatarUrl, joinedAt: isoOrNull(joinedAtMs), hidden, portfolioPublic };
}

/** The profile as others see it: that of a muted wallet is empty. */
export const presentPublicProfile = (profile: ProfileFacts) =>
  presentProfile(profile.muted ? { ...profile, username: null, bio: null, avatarUrl: null } : profile);

/** GET /me: a signed-in wallet has always joined. */
export function presentMe(
  profile: ProfileFacts,
  session: { readonly issuedAt: string; readonly expiresAt: string | null },
) {
  const { issuedAt, expiresAt } = session;
  const { joinedAt, ...rest } = presentProfile(profile);
  return { ...rest, joinedAt: joinedAt ?? issuedAt, session: { issuedAt, expiresAt } };
}

export interface CommentFacts {
  readonly marketId: string;
  readonly number: number;
  readonly parent: number;
  readonly address: string;
  readonly username: string | null;
  readonly avatarUrl: string | null;
  readonly body: string;
  readonly likes: number;
  readonly createdAtMs: number;
  readonly deleted: boolean;
}

export function presentComment(comment: CommentFacts) {
  const { marketId, number, parent, address, username, avatarUrl } = comment;
  return {
    id: commentId(marketId, number),
    marketId,
    parentId: parent === 0 ? null : commentId(marketId, parent),
    author: { address, username, avatarUrl },
    body: comment.body,
    likes: comment.likes,
    createdAt: iso(comment.createdAtMs),
    deleted: comment.deleted,
  };
}

/** An operator's view of a wallet. `positions` are the outcomes of which it holds tokens. */
export function presentAdminAccount(profile: ProfileFacts, account: Balances, openOrders: number) {
  return {
    ...presentProfile(profile),
    muted: profile.muted,
    balances: presentBalances(account),
    positions: account.tokens.length,
    openOrders,
  };
}
