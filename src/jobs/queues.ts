/** The braces keep BullMQ's keys in one slot of a cluster. */
export const JOBS_PREFIX = '{jobs}';

/**
 * BullMQ writes the events of its jobs into a stream for each queue. No process here reads them, and the default of
 * 10,000 takes an hour to fill and megabytes to keep.
 */
const EVENTS_KEPT = 200;

/** Of every queue object: each writes its options where all processes see them, so that the last one to start decides. */
export const QUEUE_OPTIONS = { prefix: JOBS_PREFIX, streams: { events: { maxLen: EVENTS_KEPT } } } as const;

export const SETTLEMENT_QUEUE = 'settlement';
/** The worker's chores by the clock, a queue for each; see chores.ts and reconcile.ts. */
export const RECONCILE_QUEUE = 'reconcile-settlements';

/** Every queue there is, for the board. */
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
