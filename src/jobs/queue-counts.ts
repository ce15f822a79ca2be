import { type ConnectionOptions, Queue } from 'bullmq';
import { QUEUE_OPTIONS, QUEUES } from './queues';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

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
): QueueCounts {
  const queues = QUEUES.map((name) => {
    const queue = new Queue(name, { connection, ...QUEUE_OPTIONS });
    queue.on('error', onError);
    return queue;
  });
  return {
    async count(): Promise<QueueCount[]> {
      const counted = await Promise.all(
        queues.map(async (queue) => {
          const counts = await queue.getJobCounts(...STATES);
          return STATES.map((state) => ({ queue: queue.name, state, count: counts[state] ?? 0 }));
        }),
      );
      return counted.flat();
    },
    async stop(): Promise<void> {
      await Promise.allSettled(queues.map((queue) => queue.close()));
    },
  };
}
