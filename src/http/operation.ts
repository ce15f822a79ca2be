import { createHash, randomUUID } from 'node:crypto';
import { Refusal } from '../exchange/errors';
import type { Call } from './endpoint';

const OPERATION_KEY = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The name of this request, so that a repetition changes nothing: the caller's Idempotency-Key together with the
 * operation, or, without one, a unique name.
 */
export function operationOf({ request }: Call<unknown>, facts: readonly string[]): string {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return randomUUID();
  if (typeof key !== 'string' || !OPERATION_KEY.test(key)) {
    const message = 'must be 1 to 64 of A-Z, a-z, 0-9, - and _';
    throw new Refusal('INVALID_REQUEST', `Idempotency-Key ${message}`, {
      errors: [{ path: 'Idempotency-Key', message }],
    });
  }
  return createHash('sha256')
    .update([...facts, key].join('|'))
    .digest('hex');
}
