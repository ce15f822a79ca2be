import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue, Worker } from 'bullmq';

/** A worker of BullMQ that is replaced when it does not work. */
export interface SupervisedWorker {
  close(): Promise<void>;
}

interface KeepOptions {
  readonly open: () => Worker;
  readonly queue: Pick<Queue, 'getJobCounts' | 'isPaused'>;
  /** Called when a worker is replaced. */
  readonly onStuck: () => void;
  readonly lookMs?: number;
}

const LOOK_MS = 2_000;
/** Checks in a row after which a worker that takes no waiting job is stuck. */
const LOOKS = 5;
/** The time that a worker has to finish its jobs. A Redis that does not answer would be waited for without end. */
const CLOSE_MAX_MS = 3_000;
/** The most workers that do not end, each of which keeps a connection; then no other is opened. */
const UNENDED_MAX = 20;

/**
 * Replaces a worker while jobs wait and none runs. BullMQ's loop ends, or waits for a node of a cluster without end, after some errors of
 * nodes that come and go (MOVED, CLUSTERDOWN). Jobs are safe to run twice, so it does no harm when the first worker goes on.
 */
export function superviseWorker({ open, queue, onStuck, lookMs = LOOK_MS }: KeepOptions): SupervisedWorker {
  let idleLooks = 0;
  let isLooking = false;
  let isClosed = false;
  let unended = 0;
  const watched = (): Worker =>
    open().on('active', () => {
      idleLooks = 0;
    });
  let worker = watched();
  const closing = new Set<Promise<void>>();

  function end(one: Worker): void {
    unended++;
    const ended = one
      .close()
      .catch(() => undefined)
      .finally(() => unended--);
    const closed: Promise<void> = Promise.race([
      ended,
      sleep(CLOSE_MAX_MS, undefined, { ref: false }),
    ]).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  async function look(): Promise<void> {
    const { wait = 0, active = 0 } = await queue.getJobCounts('wait', 'active');
    const isIdle = wait > 0 && active === 0 && !(await queue.isPaused());
    idleLooks = isIdle ? idleLooks + 1 : 0;
    if (idleLooks < LOOKS || isClosed || unended >= UNENDED_MAX) return;
    idleLooks = 0;
    onStuck();
    end(worker);
    worker = watched();
  }

  const timer = setInterval(() => {
    // One question at a time: a command of this connection waits for Redis as long as it takes.
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(() => {
        idleLooks = 0;
      })
      .finally(() => {
        isLooking = false;
      });
  }, lookMs);
  timer.unref();

  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      end(worker);
      await Promise.all(closing);
    },
  };
}
