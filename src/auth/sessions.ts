import { randomBytes } from 'node:crypto';
import { Refusal } from '../exchange/errors';
import type { Rotation, TokenPair } from '../exchange/session';
import { type ApiKeys, isKey, type KeyScope } from './api-keys';
import { TOKEN_LIFETIME_SEC, type Tokens } from './tokens';

/**
 * A session is a family of token pairs, numbered from 1. A refresh token contains the number of its pair and can be
 * used once, for the next pair; again only while the client cannot have received that pair. No token is stored, because the number and time of a pair are enough to sign it again.
 *
 * All replicas share the sessions. Each method is one atomic step and takes effect on every replica before it returns.
 * Times are those of the store, so replicas whose clocks differ sign identical pairs.
 */
export interface SessionStore {
  /** Creates a live session at generation 1 that expires after `ttlSec`. Returns its time in ms. */
  open(sid: string, ttlSec: number): Promise<number>;
  /**
   * Uses the refresh token of pair `presented`:
   *   the session does not exist                     -> gone
   *   a reuse ended it: `presented` is an old number -> reused; it is the newest number, never used -> gone
   *   `presented` is the newest                      -> the next pair becomes the newest, the time of this use is stored,
   *                                                     the session lives `ttlSec` from now: rotated
   *   `presented` was first used `graceMs` ago or less -> the result of that first use: replayed
   *   `presented` is the number before the newest, and neither token of the newest pair was used
   *                                                  -> that pair, issued now: replayed
   *   `presented` is older                           -> the session ends: reused
   *   `presented` is newer than the newest           -> gone
   */
  rotate(sid: string, presented: number, ttlSec: number, graceMs: number): Promise<Rotation>;
  /** Adds the session to those of the wallet, until `ttlSec` after `atMs`, and drops the expired ones. */
  remember(address: string, sid: string, atMs: number, ttlSec: number): Promise<void>;
  /** The ids of the wallet's sessions, some of which may have ended. */
  sessionsOf(address: string): Promise<string[]>;
  /** Whether the session is live; notes that the access token of pair `generation` was used. */
  use(sid: string, generation: number): Promise<boolean>;
  isLive(sid: string): Promise<boolean>;
  /** Ends the session; repeating it changes nothing. */
  revoke(sid: string): Promise<void>;
}

/** The caller, and the expiration of its access token (ISO-8601). */
export interface Caller {
  readonly address: string;
  readonly sid: string;
  readonly issuedAt: string;
  /** Null for an API key without an expiration. */
  readonly expiresAt: string | null;
  /** The scopes of the API key of this request; null for an access token, which has every right. */
  readonly scopes: readonly KeyScope[] | null;
}

export interface Sessions {
  /** `address` is the one that sign-in returned. */
  open(address: string): Promise<TokenPair>;
  /** Throws TOKEN_INVALID, TOKEN_EXPIRED, REFRESH_REUSED. */
  refresh(refreshToken: unknown): Promise<TokenPair>;
  /** Throws TOKEN_INVALID (also when the session has ended) and TOKEN_EXPIRED. */
  authenticate(accessToken: unknown): Promise<Caller>;
  logout(sid: string): Promise<void>;
  /** Ends every session of the wallet. API keys stay. */
  logoutEverywhere(address: string): Promise<void>;
}

const SID_BYTES = 16;
/** The time during which tabs or programs that share a session may use the same refresh token. */
const REPLAY_GRACE_MS = 10_000;
const JTI = /^[0-9a-f]{32}\.([1-9][0-9]{0,14})\.[ar]$/;
/** The number of a pair; NaN for an id that is not one of ours. */
const generationOf = (jti: string): number => Number(JTI.exec(jti)?.[1]);

interface SessionsOptions {
  readonly tokens: Tokens;
  readonly store: SessionStore;
  /** The API keys that callers may send in place of access tokens. */
  readonly apiKeys?: Pick<ApiKeys, 'authenticate'>;
  /** Called for each logout, after it took effect. */
  readonly onLogout?: (sid: string) => void;
}

export function createSessions({ tokens, store, apiKeys, onLogout = () => {} }: SessionsOptions): Sessions {
  const { access, refresh } = TOKEN_LIFETIME_SEC;

  const pair = (address: string, sid: string, generation: number, atMs: number): TokenPair => {
    const subject = { address, sid, issuedAtSec: Math.floor(atMs / 1_000) };
    return {
      address,
      accessToken: tokens.sign('access', { ...subject, jti: `${sid}.${generation}.a` }),
      refreshToken: tokens.sign('refresh', { ...subject, jti: `${sid}.${generation}.r` }),
      tokenType: 'Bearer',
      expiresIn: access,
      refreshExpiresIn: refresh,
    };
  };

  async function logout(sid: string): Promise<void> {
    await store.revoke(sid);
    onLogout(sid);
  }

  return {
    open: async (address) => {
      const sid = randomBytes(SID_BYTES).toString('hex');
      const atMs = await store.open(sid, refresh);
      await store.remember(address, sid, atMs, refresh);
      return pair(address, sid, 1, atMs);
    },
    refresh: async (refreshToken) => {
      const { address, sid, jti } = tokens.verify('refresh', refreshToken);
      const presented = generationOf(jti);
      if (Number.isNaN(presented)) throw new Refusal('TOKEN_INVALID');
      const rotation = await store.rotate(sid, presented, refresh, REPLAY_GRACE_MS);
      if (rotation.kind === 'reused') throw new Refusal('REFRESH_REUSED');
      if (rotation.kind === 'gone') throw ended();
      await store.remember(address, sid, rotation.atMs, refresh);
      return pair(address, sid, rotation.generation, rotation.atMs);
    },
    authenticate: async (accessToken) => {
      if (apiKeys && isKey(accessToken)) return apiKeys.authenticate(accessToken);
      const { address, sid, jti, issuedAtSec, expiresAtSec } = tokens.verify('access', accessToken);
      if (!(await store.use(sid, generationOf(jti)))) throw ended();
      return { address, sid, issuedAt: iso(issuedAtSec), expiresAt: iso(expiresAtSec), scopes: null };
    },
    logout,
    logoutEverywhere: async (address) => {
      await Promise.all((await store.sessionsOf(address)).map(logout));
    },
  };
}

const ended = (): Refusal => new Refusal('TOKEN_INVALID', 'the session has ended; sign in again');
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString();
