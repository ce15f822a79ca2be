import { Refusal } from '../exchange/errors';

/** Submissions under way in one process: more would only wait for each other. */
const ORDERS_IN_FLIGHT_MAX = 1_000;
/** A process whose timers are later than this has more to do than it can: what it accepts now is answered too late. */
export const LATE_MAX_MS = 1_000;
const RETRY_AFTER_MS = 1_000;

/**
 * Refuses new orders before they pile up, so that what was taken on is answered in time. Cancels and reads pass: they are
 * what gets the load down, and what tells a trader where he stands.
 */
export interface Shedding {
  /** Books an order, or refuses to begin: UNAVAILABLE. */
  guard<T>(submit: () => Promise<T>): Promise<T>;
  /** Refuses to begin, where nothing is begun yet: UNAVAILABLE. */
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
