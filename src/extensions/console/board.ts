import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { type ConnectionOptions, Queue } from 'bullmq';
import { QUEUE_OPTIONS, type QueueName } from '../../jobs/queues';

/** Bull Board over every queue, to be mounted at `basePath`. The caller checks who may see it. */
export function createBoard({
  connection,
  basePath,
  queues: names,
  onError,
}: {
  connection: ConnectionOptions;
  basePath: string;
  queues: readonly QueueName[];
  onError: (error: Error) => void;
}) {
  const queues = names.map(({ name, prefix }) => {
    const queue = new Queue(name, { connection, ...QUEUE_OPTIONS, prefix });
    queue.on('error', onError);
    return queue;
  });
  const adapter = new ExpressAdapter().setBasePath(basePath);
  createBullBoard({ queues: queues.map((queue) => new BullMQAdapter(queue)), serverAdapter: adapter });
  return {
    handler: adapter.getRouter(),
    async stop() {
      await Promise.allSettled(queues.map((queue) => queue.close()));
    },
  };
}
