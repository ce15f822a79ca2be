import type { ConnectionOptions } from 'bullmq';
import { Queue, Worker } from 'bullmq';
import { isFull } from '../store/redis/unreachable';
import { restWhileFull } from './full';
import { JOBS_PREFIX, QUEUE_OPTIONS } from './queues';

/** A periodic task of the worker: it runs at most once per interval over all worker processes. */
export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<void>;
}

export interface ScheduleOptions {
  readonly connection: ConnectionOptions;
  readonly chores: readonly Chore[];
  /** The time of Redis. */
  readonly now: () => number;
  readonly onError: (error: Error, chore: string) => void;
  /**
   * Whether there are several partitions: the queues of all chores are on one node of a cluster. While it is unreachable, every worker runs
   * every chore by itself, so the chores of the other partitions go on.
   */
  readonly goesOn?: boolean;
}

const FAILED_KEPT = 100;
/** A chore whose process died is given to another worker after this time. */
const LOCK_MS = 5_000;
const STALL_CHECK_MS = 2_000;
/** The interval of checks for chores whose BullMQ keys were lost or were written by a wrong clock. */
const REPAIR_MS = 1_000;
/** The largest accepted distance between a chore's due time and its planned run. */
const LATE_MS = 1_000;
/** After this time without an answer of the queues, their node counts as away. */
const AWAY_MS = 5_000;
/** After this time without a refusal for lack of memory, the queues count as working again. */
const FULL_MS = 3_000;

/**
 * Runs chores through BullMQ job schedulers: with any number of workers, each tick of a chore runs in one of them. A chore
 * must be safe to run twice, because a stalled chore runs again. The scripts of BullMQ do not run in a full Redis, those of most
 * chores do: there every worker runs every chore by itself, so that what is over can leave.
 */
export async function startSchedule({
  connection,
  chores,
  now,
  onError,
  goesOn = false,
}: ScheduleOptions): Promise<{ stop(): Promise<void> }> {
  const started = await Promise.all(chores.map(start));

  async function start(chore: Chore) {
    const queue = new Queue(chore.name, { connection, ...QUEUE_OPTIONS });
    let ranAt = Number.NEGATIVE_INFINITY;
    const run = async (): Promise<void> => {
      ranAt = Number.POSITIVE_INFINITY;
      try {
        await chore.run();
      } finally {
        ranAt = performance.now();
      }
    };
    const worker = new Worker(chore.name, run, {
      connection,
      prefix: JOBS_PREFIX,
      concurrency: 1,
      lockDuration: LOCK_MS,
      stalledInterval: STALL_CHECK_MS,
    });
    restWhileFull(worker);
    let fullAt = Number.NEGATIVE_INFINITY;
    const report = (error: Error): void => {
      if (isFull(error)) fullAt = performance.now();
      onError(error, chore.name);
    };
    queue.on('error', report);
    worker.on('error', report);
    worker.on('failed', (_job, error) => onError(error, chore.name));
    const plan = () =>
      queue.upsertJobScheduler(
        chore.name,
        { every: chore.everyMs },
        { name: chore.name, opts: { removeOnComplete: true, removeOnFail: FAILED_KEPT } },
      );
    // Queues that are away or full hold up no start: the first look plans the chore.
    if (!goesOn)
      await plan().catch((error) => {
        if (!isFull(error)) throw error;
        report(error);
      });
    // BullMQ plans a run by the clock of the worker that ran the chore last, and starts it by the clock of the worker that runs
    // it next. If the clocks differ, or a clock was set, the next run may be far away.
    const repair = async () => {
      const planned = await queue.getJobScheduler(chore.name);
      const latestMs = chore.everyMs + LATE_MS;
      const isOff = Math.abs(Number(planned?.next ?? 0) - now()) > latestMs;
      if (planned && (!isOff || performance.now() - ranAt <= latestMs)) return;
      // Replacing the scheduler without removing it would keep the old time.
      if (planned) await queue.removeJobScheduler(chore.name);
      await plan();
    };
    let [isAsked, answeredAt] = [false, performance.now()];
    /** One question at a time: a command of this connection waits for Redis as long as it takes. */
    const look = async (): Promise<void> => {
      if (isAsked) return;
      isAsked = true;
      try {
        await repair();
        answeredAt = performance.now();
      } catch (error) {
        report(error as Error);
      } finally {
        isAsked = false;
      }
    };
    const since = (moment: number): number => performance.now() - moment;
    const alone = runAlone(
      chore,
      () => since(fullAt) < FULL_MS || (goesOn && since(answeredAt) > AWAY_MS),
      onError,
    );
    return { queue, worker, look, alone };
  }

  const looks = setInterval(() => started.map(({ look }) => look()), REPAIR_MS);

  return {
    async stop() {
      clearInterval(looks);
      await Promise.all(started.map(({ alone }) => alone.stop()));
      await Promise.allSettled(started.map(({ worker }) => worker.close()));
      await Promise.allSettled(started.map(({ queue }) => queue.close()));
    },
  };
}

/** Runs a chore in its interval while its queue does not work. */
function runAlone(
  chore: Chore,
  isNeeded: () => boolean,
  onError: ScheduleOptions['onError'],
): { stop(): Promise<void> } {
  let underway: Promise<void> | null = null;
  const timer = setInterval(() => {
    if (underway !== null || !isNeeded()) return;
    underway = chore
      .run()
      .catch((error: Error) => onError(error, chore.name))
      .finally(() => {
        underway = null;
      });
  }, chore.everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await underway;
    },
  };
}
