import { Refusal } from '../../exchange/errors';

/** The time limits of booking a submission. */
export interface Deadlines {
  /** The submitter's own deadline, epoch milliseconds; 0 for none. */
  readonly deadlineMs: number;
  /** The time at which the request reached the web process, by the clock of Redis; omitted when no caller waits. */
  readonly arrivedMs?: number;
}

/**
 * The caller receives a refusal before this time and may use another replica. From then on the order must not be booked,
 * however late the command reaches Redis, because a stalled connection still delivers what was written to it.
 */
export const BOOK_WITHIN_MS = 3_000;

/** The moment from which the script books nothing, by the clock of Redis; 0 never. */
export function lastMomentOf({ deadlineMs, arrivedMs }: Deadlines): number {
  if (arrivedMs === undefined) return deadlineMs;
  const lateMs = Math.trunc(arrivedMs) + BOOK_WITHIN_MS;
  return deadlineMs === 0 ? lateMs : Math.min(deadlineMs, lateMs);
}

/** A larger number is in milliseconds: as milliseconds it is a moment of 2001, as seconds one of the year 5138. */
const SECONDS_MAX = 100_000_000_000;

const passed = (deadlineMs: number): string | undefined =>
  deadlineMs > 1 && deadlineMs < SECONDS_MAX
    ? 'deadline is in epoch milliseconds, and this value looks like seconds; multiply it by 1,000'
    : undefined;

/** The text for an order that reached the script too late; it names the missed deadline. */
export function tooLate(deadlines: Deadlines): Refusal {
  return lastMomentOf(deadlines) === deadlines.deadlineMs
    ? new Refusal('DEADLINE_EXCEEDED', passed(deadlines.deadlineMs))
    : new Refusal('UNAVAILABLE', 'the order reached the book too late and was not booked; send it again');
}
