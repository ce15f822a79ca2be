import { createSecretKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { Refusal } from '../exchange/errors';
import { createRecent } from '../exchange/recent';
import { isAddress } from './address';

/** The use of a token; a token of one use is never accepted for the other. */
export type TokenUse = 'access' | 'refresh';

export const TOKEN_LIFETIME_SEC: Readonly<Record<TokenUse, number>> = { access: 900, refresh: 2_592_000 };

/** The signed claims, besides iss, aud and exp. */
export interface TokenSubject {
  /** Checksummed. */
  readonly address: string;
  readonly sid: string;
  readonly jti: string;
  /** Epoch seconds. */
  readonly issuedAtSec: number;
}

export interface TokenClaims extends TokenSubject {
  /** Epoch seconds. */
  readonly expiresAtSec: number;
}

export interface Tokens {
  /** The same arguments give the same token, to the byte. */
  sign(use: TokenUse, subject: TokenSubject): string;
  /** Throws TOKEN_INVALID, and TOKEN_EXPIRED for an expired token of this exchange. */
  verify(use: TokenUse, token: unknown): TokenClaims;
}

export interface TokenOptions {
  /** As parseJwtSecrets returns them: the first signs, all verify. */
  readonly secrets: readonly [JwtSecret, ...JwtSecret[]];
  readonly issuer: string;
  /** The network, for example `chain:97`. */
  readonly audience: string;
  /** The clock that dates the sessions: the clock of the store. */
  readonly nowMs: () => number;
}

/** A key and its name; a single secret has no name. */
export interface JwtSecret {
  readonly kid: string | null;
  readonly secret: string;
}

const ALGORITHM = 'HS256';
const TOKEN_MAX_LENGTH = 4_096;
/** The allowed difference between the clocks of two hosts. */
const AHEAD_MAX_SEC = 60;
/** The number of verified tokens that a process remembers, because a bot sends the same token with every request. */
const GENUINE_MAX = 4_096;
const NAMED_SECRET = /^([A-Za-z0-9_-]{1,32}):(.+)$/;

/**
 * Reads JWT_SECRET. Throws an Error when it is empty, names a key twice, or names only some keys of a list. The error
 * does not repeat the secret.
 */
export function parseJwtSecrets(text: string): readonly [JwtSecret, ...JwtSecret[]] {
  const parts = text.split(',').map((part) => NAMED_SECRET.exec(part.trim()));
  const named = parts.flatMap((part) => (part?.[1] && part[2] ? [{ kid: part[1], secret: part[2] }] : []));
  const [first, ...rest] = named;
  if (first === undefined) {
    if (text === '') throw new Error('JWT_SECRET is empty');
    return [{ kid: null, secret: text }];
  }
  if (named.length !== parts.length) throw new Error('JWT_SECRET names some of its keys, but not all');
  if (new Set(named.map(({ kid }) => kid)).size !== named.length)
    throw new Error('JWT_SECRET names a key twice');
  return [first, ...rest];
}

/** HS256 JSON Web Tokens. */
export function createTokens({ secrets, issuer, audience, nowMs }: TokenOptions): Tokens {
  // A KeyObject is prepared once. A string secret would be prepared again for every token, at forty times the cost.
  const keys = new Map(secrets.map(({ kid, secret }) => [kid, createSecretKey(Buffer.from(secret))]));
  const [{ kid: signingKid }] = secrets;
  const signingKey = keys.get(signingKid) as KeyObject;
  const genuine = createRecent<jwt.JwtPayload>(GENUINE_MAX);

  // A verified signature stays valid; only the claims that change with time are checked each time.
  function payloadOf(token: string, nowSec: number): jwt.JwtPayload {
    const known = genuine.get(token);
    if (known) return known;
    const payload = verified(token, candidates(keys, token), { issuer, audience, nowSec });
    genuine.put(token, payload);
    return payload;
  }

  return {
    sign: (use, { address, sid, jti, issuedAtSec }) =>
      jwt.sign(
        {
          iss: issuer,
          aud: audience,
          sub: address,
          jti,
          sid,
          use,
          iat: issuedAtSec,
          exp: issuedAtSec + TOKEN_LIFETIME_SEC[use],
        },
        signingKey,
        { algorithm: ALGORITHM, ...(signingKid === null ? {} : { keyid: signingKid }) },
      ),
    verify: (use, token) => {
      const nowSec = Math.floor(nowMs() / 1_000);
      if (typeof token !== 'string' || token.length > TOKEN_MAX_LENGTH) throw new Refusal('TOKEN_INVALID');
      const claims = readClaims(use, payloadOf(token, nowSec));
      if (claims.issuedAtSec > nowSec + AHEAD_MAX_SEC) throw new Refusal('TOKEN_INVALID');
      // Last, so that only a token that is valid in every other respect is called expired.
      if (nowSec >= claims.expiresAtSec) throw new Refusal('TOKEN_EXPIRED');
      return claims;
    },
  };
}

/**
 * Returns the key that a token names; all keys for a token from before keys had names; no key for a token with a header
 * that this exchange does not know. A single secret has no name and is tried for every token: while the first secret of a
 * deployment gets its name, processes that do not know the name yet accept the tokens of those that do.
 */
function candidates(keys: ReadonlyMap<string | null, KeyObject>, token: string): KeyObject[] {
  const header = headerOf(token);
  if (header === null || 'crit' in header) return [];
  if (keys.has(null)) return [...keys.values()];
  // A name that is not a string belongs to no key.
  const kid = 'kid' in header ? (typeof header.kid === 'string' ? header.kid : '') : undefined;
  if (kid === undefined) return [...keys.values()];
  const key = keys.get(kid);
  return key === undefined ? [] : [key];
}

function headerOf(token: string): object | null {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString(),
    );
    return typeof header === 'object' ? header : null;
  } catch {
    return null;
  }
}

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly nowSec: number;
}

function verified(
  token: string,
  keys: readonly KeyObject[],
  { issuer, audience, nowSec }: Expected,
): jwt.JwtPayload {
  for (const key of keys) {
    try {
      const payload = jwt.verify(token, key, {
        algorithms: [ALGORITHM],
        issuer,
        audience,
        clockTimestamp: nowSec,
        ignoreExpiration: true,
      });
      if (typeof payload === 'object') return payload;
    } catch {
      // The next key may verify it.
    }
  }
  throw new Refusal('TOKEN_INVALID');
}

function readClaims(use: TokenUse, payload: jwt.JwtPayload): TokenClaims {
  const { sub, jti, sid, iat, exp } = payload;
  const complete =
    payload.use === use &&
    typeof sub === 'string' &&
    isAddress(sub) &&
    typeof jti === 'string' &&
    typeof sid === 'string' &&
    Number.isSafeInteger(iat) &&
    Number.isSafeInteger(exp);
  if (!complete || iat === undefined || exp === undefined) throw new Refusal('TOKEN_INVALID');
  return { address: sub, sid, jti, issuedAtSec: iat, expiresAtSec: exp };
}
