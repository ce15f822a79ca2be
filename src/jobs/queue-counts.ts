import { type ConnectionOptions, Queue } from 'bullmq';
import { QUEUE_OPTIONS, type QueueName } from './queues';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** The samples of a scrape have a second: the counts of one queue that does not answer are left out, not those of all. */
const COUNT_MAX_MS = 800;

export interface QueueCount {
  readonly queue: string;
  readonly state: (typeof STATES)[number];
  readonly count: number;
}

export interface QueueCounts {
  count(): Promise<QueueCount[]>;
  stop(): Promise<void>;
}

/** Returns the number of jobs of each queue by state. */
export function createQueueCounts(
  connection: ConnectionOptions,
  onError: (error: Error) => void,
  names: readonly QueueName[],
): QueueCounts {
  const queues = names.map(({ name, prefix }) => {
    const queue = new Queue(name, { connection, ...QUEUE_OPTIONS, prefix });
    queue.on('error', onError);
    return queue;
  });
  return {
    async count(): Promise<QueueCount[]> {
      const counted = await Promise.allSettled(
        queues.map(async (queue) => {
          const counts = await within(COUNT_MAX_MS, queue.getJobCounts(...STATES));
          return STATES.map((state) => ({ queue: queue.name, state, count: counts[state] ?? 0 }));
        }),
      );
      return counted.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    },
    async stop(): Promise<void> {
      await Promise.allSettled(queues.map((queue) => queue.close()));
    },
  };
}

async function within<T>(limitMs: number, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), limitMs);
  });
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}
