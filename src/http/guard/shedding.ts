import { Refusal } from '../../exchange/errors';

/** The most submissions in progress in one process; more would only wait for each other. */
const ORDERS_IN_FLIGHT_MAX = 1_000;
/** When the timers of a process are later than this, it is overloaded and would answer new requests too late. */
const LATE_MAX_MS = 1_000;
const RETRY_AFTER_MS = 1_000;

/**
 * Refuses new orders before they pile up, so that accepted ones are answered in time. Cancels and reads pass, because
 * cancels reduce the load and reads show traders the state of their orders.
 */
export interface Shedding {
  /** Books an order, or throws UNAVAILABLE before it begins. */
  guard<T>(submit: () => Promise<T>): Promise<T>;
  /** Throws UNAVAILABLE under overload, for requests that have not begun anything. */
  check(): void;
  inFlight(): number;
}

export function createShedding(
  delayMs: () => number,
  { inFlightMax = ORDERS_IN_FLIGHT_MAX, lateMaxMs = LATE_MAX_MS } = {},
): Shedding {
  let inFlight = 0;

  function check(): void {
    if (inFlight < inFlightMax && delayMs() <= lateMaxMs) return;
    throw new Refusal('UNAVAILABLE', 'this process has too many orders in progress; retry shortly', {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  return {
    check,
    async guard(submit) {
      check();
      inFlight++;
      try {
        return await submit();
      } finally {
        inFlight--;
      }
    },
    inFlight: () => inFlight,
  };
}
