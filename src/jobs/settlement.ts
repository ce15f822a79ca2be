import { type ConnectionOptions, type Job, UnrecoverableError, Worker } from 'bullmq';
import type { ChainScale } from '../exchange/order';
import { createLease, type Lease } from '../store/outbox/lease';
import { createSpread } from '../store/outbox/spread';
import type { Reads } from '../store/reads/reads';
import type { MatchRef } from '../store/records/settlement';
import type { Keys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import { type Matches, NoSuchMatch } from '../store/settlement/matches';
import type { Settlements } from '../store/settlement/settlements';
import { restWhileFull } from './full';
import { type QueueName, settlementQueueOf } from './queues';
import { createReconciler } from './reconcile';
import { startRelay } from './relay';
import type { Chore } from './schedule';
import { createSettle, type Failure } from './settle';
import {
  createSettlementQueue,
  parseMatchName,
  type Retries,
  type SettlementJob,
  type SettlementQueue,
} from './settlement-queue';
import { type SupervisedWorker, superviseWorker } from './supervised-worker';

export interface SettlementOptions {
  /** BullMQ's blocking connection, whose commands wait while Redis is away. */
  readonly connection: ConnectionOptions;
  /** The lease of reading the outbox as `settlement`. */
  readonly relayLease: Lease;
  readonly matches: Matches;
  readonly settlements: Settlements;
  readonly reads: Pick<Reads, 'market' | 'clock'>;
  readonly scale: ChainScale;
  readonly onError: (error: Error, what: string) => void;
  readonly funds?: 'paper' | 'chain';
  readonly retries?: Retries;
  /** The partition, if there are several: only the holder of its relay lease runs its jobs. */
  readonly partition?: number | null;
}

export interface RunningSettlement {
  /** The scheduled chores. */
  readonly reconciler: Chore;
  /** Whether this process makes the jobs of the partition's matches. */
  isRelaying(): boolean;
  stop(): Promise<void>;
}

/** The most jobs that one process runs at once; each job calls Redis three times. */
const CONCURRENCY = 3;
/** A job whose process died is given to another after this time, any number of times. */
const LOCK_MS = 2_000;
const STALL_CHECK_MS = 500;
const STALLS_MAX = 1_000;

/**
 * Everything that settles: the relay makes jobs of matches, the processor writes the records, the reconciler finds matches
 * that both have lost. BullMQ provides retries and inspection; the records ensure that each match is settled once.
 */
export function startSettlement(options: SettlementOptions): RunningSettlement {
  const {
    connection,
    relayLease,
    matches,
    settlements,
    reads,
    scale,
    onError,
    funds = 'paper',
    retries,
    partition = null,
  } = options;
  const queue = createSettlementQueue({
    connection,
    partition: partition ?? 0,
    onError: (error) => onError(error, 'settlement queue'),
    ...(retries && { retries }),
  });
  const termsOf = async (marketId: string) => {
    const market = await reads.market(marketId);
    if (!market) throw new NoSuchMatch(`no market ${marketId}`);
    return market.terms;
  };
  const settle = createSettle({ matches, settlements, termsOf, scale, funds });
  const processor = createProcessor({ settle, settlements, queue, funds });
  const open = () =>
    superviseWorker({
      open: () => openWorker(settlementQueueOf(partition ?? 0), processor, options),
      queue: queue.queue,
      onStuck: () => onError(new Error('it takes no jobs, and is opened again'), 'settlement worker'),
    });
  const held = partition === null ? null : createHeld(open);
  const worker = partition === null ? open() : null;
  let isRelaying = false;
  const relay = startRelay({
    lease: relayLease,
    matches,
    enqueue: (refs) => queue.add(refs, 'relay'),
    onError(error) {
      isRelaying = false;
      onError(error, 'settlement relay');
    },
    onLook(isHeld) {
      isRelaying = isHeld;
      held?.look(isHeld);
    },
  });
  return {
    reconciler: createReconciler({ matches, now: reads.clock, enqueue: queue.add }),
    isRelaying: () => isRelaying,
    async stop() {
      await relay.stop();
      isRelaying = false;
      await worker?.close();
      await held?.stop();
      await queue.stop();
    },
  };
}

interface SettledStore {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly scale: ChainScale;
  readonly partitions: readonly (Pick<SettlementOptions, 'matches' | 'settlements' | 'reads'> & {
    readonly keys: Keys;
    readonly labels: Readonly<Record<string, string>>;
  })[];
}

/** Settles the matches of each partition. */
export function settlePartitions(
  { redis, run, scale, partitions }: SettledStore,
  {
    funds,
    connection,
    onError,
  }: Pick<SettlementOptions, 'connection'> & {
    readonly funds: 'paper' | 'chain';
    readonly onError: (error: Error, what: string, facts: Readonly<Record<string, string>>) => void;
  },
): RunningSettlement[] {
  const spread = createSpread(partitions.length);
  return partitions.map((parts, partition) =>
    startSettlement({
      ...parts,
      funds,
      scale,
      connection,
      relayLease: spread(createLease({ redis, run, keys: parts.keys }, 'settlement', parts.keys.relayLease)),
      partition: partitions.length > 1 ? partition : null,
      onError: (error, what) => onError(error, what, parts.labels),
    }),
  );
}

function openWorker(
  { name, prefix }: QueueName,
  processor: (job: Job<SettlementJob>) => Promise<void>,
  { connection, onError }: Pick<SettlementOptions, 'connection' | 'onError'>,
): Worker<SettlementJob> {
  const worker = new Worker<SettlementJob>(name, processor, {
    connection,
    prefix,
    concurrency: CONCURRENCY,
    lockDuration: LOCK_MS,
    stalledInterval: STALL_CHECK_MS,
    maxStalledCount: STALLS_MAX,
  });
  restWhileFull(worker);
  worker.on('error', (error) => onError(error, 'settlement worker'));
  worker.on('failed', (_job, error) => onError(error, 'settlement'));
  return worker;
}

/** The worker of a partition, which is open while this process has the lease. Jobs that it leaves are given to the next one. */
function createHeld(open: () => SupervisedWorker) {
  let worker: SupervisedWorker | null = null;
  const closing = new Set<Promise<void>>();

  function close(): void {
    if (!worker) return;
    const closed: Promise<void> = worker.close().finally(() => closing.delete(closed));
    closing.add(closed);
    worker = null;
  }

  return {
    look(isHeld: boolean): void {
      if (isHeld) worker ??= open();
      else close();
    },
    async stop(): Promise<void> {
      close();
      await Promise.all(closing);
    },
  };
}

interface ProcessorOptions {
  readonly settle: (refs: readonly MatchRef[]) => Promise<Failure[]>;
  readonly settlements: Settlements;
  readonly queue: SettlementQueue;
  readonly funds: 'paper' | 'chain';
}

/** Processes one job. It retries a failed match in a job of its own; a job of one match fails, and BullMQ retries it. */
function createProcessor({ settle, settlements, queue, funds }: ProcessorOptions) {
  return async (job: Job<SettlementJob>): Promise<void> => {
    const refs = refsOf(job.data);
    const failures = await settle(refs);
    const lost = failures.find(({ error }) => error instanceof NoSuchMatch);
    const left = failures.filter(({ error }) => !(error instanceof NoSuchMatch));
    const isLast = refs.length === 1 && job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    for (const { ref, parts } of left) {
      // On a chain only the chain says that a match failed: the funds of its wallets wait for that. The script leaves a record
      // alone that the operator has or had (src/extensions/chain/lua/move_settlement.lua).
      const status = isLast && funds === 'paper' ? 'FAILED' : 'RETRYING';
      for (const part of parts) await settlements.move({ ...ref, part }, status);
    }
    const [failure] = left;
    if (failure && refs.length === 1) throw failure.error;
    await queue.add(
      left.map(({ ref }) => ref),
      `apart-${job.id ?? ''}`,
      1,
    );
    if (lost) throw new UnrecoverableError(lost.error.message);
  };
}

/** A job with other content goes to the dead letters at once. */
function refsOf(data: unknown): MatchRef[] {
  const list = typeof data === 'object' && data !== null && 'matches' in data ? data.matches : null;
  const refs = Array.isArray(list) ? list.map(parseMatchName) : [];
  const valid = refs.filter((ref) => ref !== null);
  if (valid.length === 0 || valid.length !== refs.length) {
    throw new UnrecoverableError('the job does not name matches');
  }
  return valid;
}
