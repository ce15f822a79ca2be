import { createHash } from 'node:crypto';
import { Refusal } from '../../exchange/errors';
import type { Call, Reply } from '../endpoint';

const OPERATION_KEY = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The name of this request, so that a repetition changes nothing: the caller's Idempotency-Key within `scope`, or null without
 * one. What the request asks for is not part of the name: the script compares it.
 */
export function operationOf({ request }: Call<unknown>, scope: readonly string[]): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !OPERATION_KEY.test(key)) {
    const message = 'must be 1 to 64 of A-Z, a-z, 0-9, - and _';
    throw new Refusal('INVALID_REQUEST', `Idempotency-Key ${message}`, {
      errors: [{ path: 'Idempotency-Key', message }],
    });
  }
  return createHash('sha256')
    .update([...scope, key].join('|'))
    .digest('hex');
}

/** Marks the answer to a repetition. */
export const replayedIf = (isReplay: boolean, reply: Reply): Reply =>
  isReplay ? { ...reply, headers: { ...reply.headers, 'Idempotent-Replayed': 'true' } } : reply;
