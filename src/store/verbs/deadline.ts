import { Refusal } from '../../exchange/errors';

/** Until when a submission may be booked. */
export interface Deadlines {
  /** The submitter's own, epoch milliseconds; 0 none. */
  readonly deadlineMs: number;
  /** When the request reached the web process, by the clock of Redis; omitted where no caller waits for an answer. */
  readonly arrivedMs?: number;
}

/**
 * The caller receives a refusal before this time and may ask elsewhere: from then on the order must not be booked,
 * however late the command reaches Redis. A connection that stalls keeps what was written into it.
 */
export const BOOK_WITHIN_MS = 3_000;

/** The moment from which the script books nothing, by the clock of Redis; 0 never. */
export function lastMomentOf({ deadlineMs, arrivedMs }: Deadlines): number {
  if (arrivedMs === undefined) return deadlineMs;
  const lateMs = Math.trunc(arrivedMs) + BOOK_WITHIN_MS;
  return deadlineMs === 0 ? lateMs : Math.min(deadlineMs, lateMs);
}

/** A moment of 2001 in milliseconds; in seconds one of the year 5138. */
const SECONDS_MAX = 100_000_000_000;

const passed = (deadlineMs: number): string | undefined =>
  deadlineMs > 1 && deadlineMs < SECONDS_MAX
    ? 'deadline is in epoch milliseconds, and this value looks like seconds; multiply it by 1,000'
    : undefined;

/** The text for an order that came to the script too late: it names the deadline that passed. */
export function tooLate(deadlines: Deadlines): Refusal {
  return lastMomentOf(deadlines) === deadlines.deadlineMs
    ? new Refusal('DEADLINE_EXCEEDED', passed(deadlines.deadlineMs))
    : new Refusal('UNAVAILABLE', 'the order reached the book too late and was not booked; send it again');
}
