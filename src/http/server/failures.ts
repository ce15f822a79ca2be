import { Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import { redisFull } from '../../store/redis/refusals';
import { isFull, isRedisUnreachable } from '../../store/redis/unreachable';

/** The client closed the connection before its request was complete, so no answer is sent. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}

/**
 * Returns the refusal that the caller receives for anything thrown. It returns refusals unchanged. For a bug, the caller
 * learns only that there was one.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isFull(error)) return redisFull();
  if (isRedisUnreachable(error)) {
    return new Refusal(
      'UNAVAILABLE',
      'Redis did not respond; the request may still have been applied. Retry it or look it up',
    );
  }
  // The router throws it for a path that does not decode.
  if (error instanceof URIError)
    return new Refusal('INVALID_REQUEST', 'the path must be valid percent-encoded UTF-8');
  return new Refusal(
    'INTERNAL',
    'the exchange failed; the failure is logged under this requestId, which you can report',
  );
}

/**
 * Anything else is a bug or an unreachable Redis: it is logged under the id that the caller receives. Only a bug is logged
 * with its stack. The command of a Redis error is never logged, because its arguments come from the caller.
 */
export function logFailure(
  log: Logger,
  error: unknown,
  refusal: Refusal,
  facts: Record<string, unknown>,
): void {
  if (error instanceof Refusal || refusal.status < 500) return;
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  if (refusal.code === 'INTERNAL') log.error({ err: { type: name, message, stack }, ...facts }, refusal.code);
  else log.warn({ err: message, ...facts }, refusal.code);
}
