import { ExchangeError } from './errors';
import { type Answer, persist } from './transport';
import type { SignedOrder } from './types-account';

export const UNAUTHORIZED = 401;

/**
 * Once an attempt may have been booked, only an answer about the order itself is final: a refusal for another reason does
 * not show whether the earlier attempt was booked.
 */
export async function resolved<T>(
  attempt: () => Promise<Answer<T>>,
  sent: SignedOrder | readonly SignedOrder[],
  resolveMs: number,
): Promise<Answer<T>> {
  let isInDoubt = false;
  try {
    return await persist(
      attempt,
      (error) => {
        isInDoubt ||= error.isOutcomeUnknown;
        return isInDoubt && saysNothing(error);
      },
      resolveMs,
    );
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    if (!isInDoubt || !saysNothing(error)) throw error;
    throw new ExchangeError({
      status: error.status,
      code: 'OUTCOME_UNKNOWN',
      detail: 'no answer says whether the order was booked; send the same signed order again',
      requestId: error.requestId,
      retryable: true,
      problem: error.problem,
      cause: { error, signed: sent },
    });
  }
}

const saysNothing = (error: ExchangeError): boolean =>
  error.isOutcomeUnknown ||
  error.status === UNAUTHORIZED ||
  error.code === 'RATE_LIMITED' ||
  error.code === 'BACKLOG';
