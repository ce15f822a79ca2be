import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fenced, type Forgetting } from '../store/archive/forgetting';
import type { Source } from '../store/archive/source';

interface ArchivingOptions {
  readonly forgetting: Forgetting;
  readonly openSource: () => Promise<Source>;
  /** The other work of the holder of the lease, now and then. */
  readonly upkeep?: (token: string) => Promise<void>;
  readonly onError: (error: Error) => void;
}

/** Another process takes over this long after the holder of the lease is gone. */
const LEASE_MS = 10_000;
const RENEW_MS = 2_000;
/** Orders and matches gather for this long, so that a transaction has many of them. */
const PAUSE_MS = 500;
const UPKEEP_EVERY_MS = 60_000;
const AFTER_ERROR_MS = 2_000;

/**
 * Moves orders, matches and lines that are over into the archive, in one process at a time. The place in the outbox moves on behind
 * them: a process that dies in between leaves some that are found again.
 */
export function startArchiving({ forgetting, openSource, upkeep, onError }: ArchivingOptions): {
  stop(): Promise<void>;
} {
  const { lease, move } = forgetting;
  const token = randomUUID();
  const stopping = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (await lease.take(token, LEASE_MS)) await work();
        else await pause(RENEW_MS);
      } catch (error) {
        // Another process goes on, or the exchange is halted: nothing is wrong.
        if (!(error instanceof Fenced)) onError(error instanceof Error ? error : new Error(String(error)));
        await pause(AFTER_ERROR_MS);
      }
    }
    await lease.release(token).catch(onError);
  }

  /** Until the lease is lost. */
  async function work(): Promise<void> {
    await forgetting.open();
    const source = await openSource();
    let keptUpAt = Number.NEGATIVE_INFINITY;
    while (!stopping.signal.aborted) {
      const found = await source.next();
      await move(token, found.leaving);
      await source.done(found);
      if (!(await lease.renew(token, LEASE_MS, found.position))) return;
      if (performance.now() - keptUpAt > UPKEEP_EVERY_MS) {
        await forgetting.dropTraces();
        await upkeep?.(token);
        keptUpAt = performance.now();
      }
      if (!found.more) await pause(PAUSE_MS);
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
