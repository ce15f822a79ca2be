import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller, Sessions } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';

export type BearerRule = 'none' | 'optional' | 'required' | 'admin';

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** Returns the token of the Authorization header, null without one. Throws TOKEN_INVALID unless it is one bearer token. */
function tokenOf(request: IncomingMessage): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw new Refusal('TOKEN_INVALID', 'Authorization must be "Bearer <token>"');
  if (isSentTwice(request))
    throw new Refusal('TOKEN_INVALID', 'the Authorization header was sent more than once; send it once');
  return token;
}

/** Node keeps the first of two such headers and hides the second; a proxy in front may have checked the second. */
function isSentTwice({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'authorization') count++;
  }
  return count > 1;
}

/** The identity of a caller, null for none. A bearer that is sent must be valid, even where none is required. */
export function callerOf(
  request: IncomingMessage,
  rule: 'optional' | 'required',
  sessions: Sessions,
): Promise<Caller> | null {
  const token = tokenOf(request);
  if (token !== null) return sessions.authenticate(token);
  if (rule === 'required') throw new Refusal('UNAUTHORIZED');
  return null;
}

export function checkAdmin(request: IncomingMessage, adminTokens: readonly string[]): void {
  const token = tokenOf(request);
  if (token === null) throw new Refusal('UNAUTHORIZED');
  if (!isOneOf(token, adminTokens)) throw new Refusal('TOKEN_INVALID');
}

/** Compares with every one of them, so that the time reveals nothing. */
export const isOneOf = (given: string, expected: readonly string[]): boolean =>
  expected.filter((one) => isSame(given, one)).length > 0;

/** Compares in constant time: digests have one length for every input. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
