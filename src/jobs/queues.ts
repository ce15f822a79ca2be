import { jobsPrefix } from './tags';

/** The braces keep BullMQ's keys in one slot of a cluster. */
export const JOBS_PREFIX = jobsPrefix(0);

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

/** A queue, and the prefix of its keys. */
export interface QueueName {
  readonly name: string;
  readonly prefix: string;
}

/** The names differ although the prefixes do, because the board and the metrics show the names. */
export const settlementQueueOf = (partition: number): QueueName => ({
  name: partition === 0 ? SETTLEMENT_QUEUE : `${SETTLEMENT_QUEUE}-${partition}`,
  prefix: jobsPrefix(partition),
});

const CHORE_QUEUES = [
  RECONCILE_QUEUE,
  'expire-orders',
  'invalidate-orders',
  'trim-outbox',
  'close-markets',
  'wind-up-markets',
  'count-candles',
] as const;

/** All queues, for the board and the metrics; `inEach` and `inAll` are the chores of extensions in each partition and in all together. */
export const queuesOf = (
  partitions: number,
  inEach: readonly string[],
  inAll: readonly string[] = [],
): readonly QueueName[] => [
  ...Array.from({ length: partitions }, (_, partition) => settlementQueueOf(partition)),
  ...[...CHORE_QUEUES, ...inEach, ...inAll].map((name) => ({ name, prefix: JOBS_PREFIX })),
];
