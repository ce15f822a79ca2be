import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from '../store/outbox/lease';
import type { MatchRef } from '../store/records/settlement';
import type { Matches } from '../store/settlement/matches';

interface RelayOptions {
  readonly lease: Lease;
  readonly matches: Pick<Matches, 'read'>;
  readonly enqueue: (refs: readonly MatchRef[]) => Promise<void>;
  readonly onError: (error: Error) => void;
  /** Called at each check with whether this process has the lease. */
  readonly onLook?: (isHeld: boolean) => void;
}

/** After this time without its holder, another process takes the lease. */
const LEASE_MS = 2_000;
const RENEW_MS = 500;
/** The time between two looks at a lease that another process has. */
const LOOK_MS = 250;
/** The time for which matches gather, so that under load one job contains many of them. */
const PAUSE_MS = 25;
const READ_MAX = 1_000;
const AFTER_ERROR_MS = 500;

/**
 * Reads the outbox, in one process at a time, and makes jobs of its matches. It stores its position after adding the jobs:
 * a crash in between makes the same jobs again, which does no harm.
 */
export function startRelay({ lease, matches, enqueue, onError, onLook = () => undefined }: RelayOptions): {
  stop(): Promise<void>;
} {
  const token = randomUUID();
  const stopping = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const isHeld = await lease.take(token, LEASE_MS);
        onLook(isHeld);
        if (isHeld) await readOn();
        else await pause(LOOK_MS);
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)));
        await pause(AFTER_ERROR_MS);
      }
    }
    await lease.release(token).catch(onError);
  }

  /** Runs until the lease is lost. */
  async function readOn(): Promise<void> {
    let position = await lease.position();
    let noted = performance.now();
    while (!stopping.signal.aborted) {
      const { matches: found, last, more } = await matches.read(position, READ_MAX);
      await enqueue(found);
      if (found.length > 0 || performance.now() - noted >= RENEW_MS) {
        if (!(await lease.renew(token, LEASE_MS, last))) return;
        noted = performance.now();
      }
      position = last;
      if (!more) await pause(PAUSE_MS);
    }
  }

  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
