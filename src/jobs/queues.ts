/** The braces keep BullMQ's keys in one slot of a cluster. */
export const JOBS_PREFIX = '{jobs}';

/**
 * BullMQ writes the events of its jobs to a stream for each queue. No process here reads these streams, and the default
 * length of 10,000 fills within an hour and takes megabytes.
 */
const EVENTS_KEPT = 200;

/** Options of every queue object. Each object writes them where all processes read them, so the last to start decides. */
export const QUEUE_OPTIONS = { prefix: JOBS_PREFIX, streams: { events: { maxLen: EVENTS_KEPT } } } as const;

export const SETTLEMENT_QUEUE = 'settlement';
/** The worker's scheduled chores, with a queue for each; see chores.ts and reconcile.ts. */
export const RECONCILE_QUEUE = 'reconcile-settlements';

/** All queues, for the board. */
export const QUEUES = [
  SETTLEMENT_QUEUE,
  RECONCILE_QUEUE,
  'expire-orders',
  'invalidate-orders',
  'trim-outbox',
  'close-markets',
  'wind-up-markets',
  'count-candles',
  'keep-journal',
] as const;
