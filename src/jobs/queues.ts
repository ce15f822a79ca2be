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
export const settlementQueueOf = (shard: number): QueueName => ({
  name: shard === 0 ? SETTLEMENT_QUEUE : `${SETTLEMENT_QUEUE}-${shard}`,
  prefix: jobsPrefix(shard),
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
/** The chores of an exchange with several shards; see shard-chores.ts. */
const SHARD_QUEUES = ['finish-transfers', 'finish-markets', 'enforce-mode'] as const;

/** All queues, for the board and the metrics; `added` are the chores of extensions. */
export const queuesOf = (shards: number, added: readonly string[]): readonly QueueName[] => [
  ...Array.from({ length: shards }, (_, shard) => settlementQueueOf(shard)),
  ...[...CHORE_QUEUES, ...added, ...(shards > 1 ? SHARD_QUEUES : [])].map((name) => ({
    name,
    prefix: JOBS_PREFIX,
  })),
];
