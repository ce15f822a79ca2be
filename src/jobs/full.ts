import type { Worker } from 'bullmq';
import { isFull } from '../store/redis/unreachable';

/** The time for which a worker asks for no job after Redis had no memory for it. */
const REST_MS = 1_000;

/** A worker of BullMQ that a full Redis refuses asks for its next job again at once, hundreds of times a second; this one rests. */
export function restWhileFull(worker: Worker): void {
  worker.on('error', (error) => {
    if (!isFull(error) || worker.isPaused()) return;
    void worker.pause(true);
    setTimeout(() => {
      if (!worker.closing) void worker.resume();
    }, REST_MS).unref();
  });
}
