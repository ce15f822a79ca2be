/** The braces keep BullMQ's keys in one slot of a cluster. */
export const JOBS_PREFIX = '{jobs}';

export const SETTLEMENT_QUEUE = 'settlement';
/** What the worker does by the clock, a queue for each; see chores.ts and reconcile.ts. */
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
