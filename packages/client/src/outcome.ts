import { ExchangeError } from './errors';
import { type Answer, persist } from './transport';
import type { SignedOrder } from './types-account';

export const UNAUTHORIZED = 401;
/** A request is booked within this time of its sending, or never, as `GET /orders/{order_hash}` says. */
const LATEST_MS = 5_000;
/** The detail of OUTCOME_UNKNOWN, with the answer that the last attempt had. */
export const unknownAfter = ({ status, code, detail }: Pick<ExchangeError, 'status' | 'code' | 'detail'>) =>
  `no answer says whether the order was booked; send the same signed order again (last: ${status || 'no answer'}, ${code}, ${detail})`;

/**
 * Sends until an answer is final. Once an attempt may have been booked, a refusal of another one says nothing about it, because
 * it may still be on its way. Then only these are final: the order's record, the news that it was booked with another type, and a
 * refusal of an attempt that was sent when no earlier one could be booked any more. An order of which no attempt was sent is
 * NOT_SENT.
 */
export async function resolved<T>(
  attempt: () => Promise<Answer<T>>,
  sent: SignedOrder | readonly SignedOrder[],
  resolveMs: number,
  /** The refusals in an answer about several orders, which is final when all of them are. */
  refusalsIn: (body: T) => readonly ExchangeError[] = () => [],
  signal?: AbortSignal,
): Promise<Answer<T>> {
  let sentAtMs = 0;
  /** 0 before there is any doubt. */
  let doubtfulUntilMs = 0;
  const isFinal = (error: ExchangeError): boolean => {
    if (error.isOutcomeUnknown || error.code === 'NOT_SENT') return false;
    if (doubtfulUntilMs === 0 || error.code === 'DUPLICATE_ORDER') return true;
    return !saysNothing(error) && sentAtMs >= doubtfulUntilMs;
  };
  const note = (refusals: readonly ExchangeError[]): void => {
    // An attempt may send its request late, behind the renewal of a session.
    if (refusals.some((error) => error.isOutcomeUnknown)) doubtfulUntilMs = performance.now() + LATEST_MS;
    const open = refusals.find((error) => !isFinal(error));
    if (open) throw open;
  };
  const noted = async (): Promise<Answer<T>> => {
    sentAtMs = performance.now();
    const answer = await attempt().catch((error: unknown) => {
      if (error instanceof ExchangeError) note([error]);
      throw error;
    });
    note(refusalsIn(answer.body));
    return answer;
  };
  try {
    return await persist(noted, (error) => !isFinal(error), resolveMs, signal);
  } catch (error) {
    if (!(error instanceof ExchangeError) || isFinal(error)) throw error;
    // No attempt was sent.
    if (error.code === 'NOT_SENT' && doubtfulUntilMs === 0) throw error;
    throw new ExchangeError({
      status: error.status,
      code: 'OUTCOME_UNKNOWN',
      detail: unknownAfter(error),
      requestId: error.requestId,
      retryable: true,
      problem: error.problem,
      cause: { error, signed: sent },
    });
  }
}

/** The outcome of an earlier attempt: an error without the exchange's own document comes from the client, or from a proxy in between. */
const saysNothing = (error: ExchangeError): boolean =>
  error.problem === null ||
  error.status === UNAUTHORIZED ||
  error.code === 'RATE_LIMITED' ||
  error.code === 'BACKLOG';
