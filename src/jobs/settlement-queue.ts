import { type ConnectionOptions, Queue } from 'bullmq';
import type { MatchRef } from '../store/records/settlement';
import { QUEUE_OPTIONS, settlementQueueOf } from './queues';

/** The content of a job of this queue: matches, each as `<market>-<tradeMs>-<sequence>`. */
export interface SettlementJob {
  readonly matches: readonly string[];
}

/** The most matches in one job. At a low rate each match has its own job; at a high rate a job costs Redis as much as a match. */
const JOB_MATCHES_MAX = 100;
/** The first pause is half a second and each next one doubles; the job fails after about a minute. */
const ATTEMPTS = 8;
const BACKOFF_MS = 500;
/** The number of failed jobs that are kept for inspection; the settlement records count all of them. */
const DEAD_KEPT = 10_000;
const MATCH = /^([0-9a-z]{8})-(\d{1,15})-(\d{1,15})$/;

export interface Retries {
  readonly attempts: number;
  readonly backoffMs: number;
}

export interface SettlementQueue {
  /**
   * Makes jobs of at most `perJob` matches. `origin` gives later jobs for the same matches other ids, because a failed job
   * keeps its id.
   */
  add(refs: readonly MatchRef[], origin: string, perJob?: number): Promise<void>;
  /** The BullMQ queue, to inspect its jobs. */
  readonly queue: Queue<SettlementJob>;
  stop(): Promise<void>;
}

interface QueueOptions {
  readonly connection: ConnectionOptions;
  readonly onError: (error: Error) => void;
  /** The first one, unless the exchange has several. */
  readonly partition?: number;
  readonly retries?: Retries;
}

export const matchName = ({ marketId, tradeMs, sequence }: MatchRef): string =>
  `${marketId}-${tradeMs}-${sequence}`;

/** Returns null for any text that `matchName` does not write. */
export function parseMatchName(text: unknown): MatchRef | null {
  const parts = typeof text === 'string' ? MATCH.exec(text) : null;
  if (!parts) return null;
  return { marketId: parts[1] ?? '', tradeMs: Number(parts[2]), sequence: Number(parts[3]) };
}

/**
 * Makes jobs of matches. A job's id prevents double work only while the job is kept; record_settlements ensures that each
 * match is settled once. BullMQ rejects job ids that contain `:` or are integers.
 */
export function createSettlementQueue({
  connection,
  onError,
  partition = 0,
  retries = { attempts: ATTEMPTS, backoffMs: BACKOFF_MS },
}: QueueOptions): SettlementQueue {
  const { name, prefix } = settlementQueueOf(partition);
  const queue = new Queue<SettlementJob>(name, { connection, ...QUEUE_OPTIONS, prefix });
  queue.on('error', onError);
  const opts = {
    attempts: retries.attempts,
    backoff: { type: 'exponential', delay: retries.backoffMs },
    removeOnComplete: true,
    removeOnFail: { count: DEAD_KEPT },
  };

  async function add(refs: readonly MatchRef[], origin: string, perJob = JOB_MATCHES_MAX): Promise<void> {
    const jobs = [];
    for (let from = 0; from < refs.length; from += perJob) {
      const matches = refs.slice(from, from + perJob).map(matchName);
      const jobId = `${origin}_${matches[0]}_${matches.length}`;
      jobs.push({ name: 'settle', data: { matches }, opts: { ...opts, jobId } });
    }
    if (jobs.length > 0) await queue.addBulk(jobs);
  }

  return { add, queue, stop: () => queue.close() };
}
