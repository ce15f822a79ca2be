import { createSecretKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { Refusal } from '../exchange/errors';
import { createRecent } from '../exchange/recent';
import { isAddress } from './address';

/** The use of a token; a token of one use is never accepted for the other. */
export type TokenUse = 'access' | 'refresh';

export const TOKEN_LIFETIME_SEC: Readonly<Record<TokenUse, number>> = { access: 900, refresh: 2_592_000 };

/** The claims we sign, besides iss, aud and exp. */
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
  /** Throws TOKEN_INVALID, and TOKEN_EXPIRED for one that was ours and has ended. */
  verify(use: TokenUse, token: unknown): TokenClaims;
}

export interface TokenOptions {
  /** As parseJwtSecrets reads them: the first signs, all verify. */
  readonly secrets: readonly [JwtSecret, ...JwtSecret[]];
  readonly issuer: string;
  /** The network, for example `chain:97`. */
  readonly audience: string;
  /** By the clock that dates the sessions: that of the store. */
  readonly nowMs: () => number;
}

/** A key and its name; a single secret has none. */
export interface JwtSecret {
  readonly kid: string | null;
  readonly secret: string;
}

const ALGORITHM = 'HS256';
const TOKEN_MAX_LENGTH = 4_096;
/** The difference that is allowed between the clocks of two hosts. */
const AHEAD_MAX_SEC = 60;
/** Tokens of which a process remembers that they are genuine: a bot sends the same one with every request. */
const GENUINE_MAX = 4_096;
const NAMED_SECRET = /^([A-Za-z0-9_-]{1,32}):(.+)$/;

/**
 * Reads JWT_SECRET. Throws an Error that does not repeat the secret when it is empty, names a key twice, or names
 * some keys of a list but not all.
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
  // A KeyObject is prepared once; a string secret would be prepared again for every token, at forty times the cost.
  const keys = new Map(secrets.map(({ kid, secret }) => [kid, createSecretKey(Buffer.from(secret))]));
  const [{ kid: signingKid }] = secrets;
  const signingKey = keys.get(signingKid) as KeyObject;
  const genuine = createRecent<jwt.JwtPayload>(GENUINE_MAX);

  // A signature that was right stays right; what changes with time is looked at each time.
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
      // Last, so that only a token which was ours in every other respect is called expired.
      if (nowSec >= claims.expiresAtSec) throw new Refusal('TOKEN_EXPIRED');
      return claims;
    },
  };
}

/**
 * The key a token names; all of them for a token from before keys had names; none for one that asks for what we do not
 * know. A single secret without a name knows no names, so it is tried for every token: while the first secret of a
 * deployment gets its name, the processes that do not know it yet accept the tokens of those that do.
 */
function candidates(keys: ReadonlyMap<string | null, KeyObject>, token: string): KeyObject[] {
  const header = headerOf(token);
  if (header === null || 'crit' in header) return [];
  if (keys.has(null)) return [...keys.values()];
  // Anything but a string names no key of ours.
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
      // The next key may be the right one.
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
