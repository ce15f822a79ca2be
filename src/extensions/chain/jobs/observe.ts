import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { OtherChain } from '../../../chain/blocks';
import type { Lease } from '../../../store/outbox/lease';
import type { Observation } from './observation';

interface ObserverOptions {
  readonly lease: Pick<Lease, 'take' | 'release'>;
  readonly observation: Pick<Observation, 'stepFinal' | 'stepHead'>;
  /** Halts the exchange: the nodes serve another chain than before. */
  readonly halt: (reason: string) => Promise<unknown>;
  readonly onError: (error: Error) => void;
}

/** After this time without its holder, another process takes the lease. */
const LEASE_MS = 2_000;
const RENEW_MS = 500;
/** The time between two looks at a lease that another process has. */
const LOOK_MS = 250;
/** A block of BSC takes 450 ms. */
const PAUSE_MS = 100;
const AFTER_ERROR_MS = 500;
/** A step that waits for a node is left alone after this time: nothing that it may still do counts twice. */
const STOP_MS_MAX = 3_000;
/** On another chain only an operator helps. */
const AFTER_HALT_MS = 5_000;

/**
 * Brings what the chain says into the ledger, in one process at a time. The ledger moves only from the block where it is, so a
 * process that dies, or works on after it lost the lease, changes nothing twice.
 */
export function startObserver({ lease, observation, halt, onError }: ObserverOptions): {
  stop(): Promise<void>;
} {
  const token = randomUUID();
  const stopping = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (await lease.take(token, LEASE_MS)) await work();
        else await pause(LOOK_MS);
      } catch (error) {
        onError(asError(error));
        await pause(AFTER_ERROR_MS);
      }
    }
    await lease.release(token).catch(onError);
  }

  /** Until the lease is due for renewal, which a later take is. */
  async function work(): Promise<void> {
    const startedAt = performance.now();
    while (!stopping.signal.aborted && performance.now() - startedAt < RENEW_MS) {
      const moved = await stepOrHalt();
      const looked = await observation.stepHead();
      if (!moved && !looked) await pause(PAUSE_MS);
    }
  }

  async function stepOrHalt(): Promise<boolean> {
    try {
      return await observation.stepFinal();
    } catch (error) {
      if (error instanceof OtherChain) {
        await halt(`${error.message}; see: exchange chain rejoin`);
        await pause(AFTER_HALT_MS);
      }
      throw error;
    }
  }

  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  return {
    async stop() {
      stopping.abort();
      await Promise.race([running, sleep(STOP_MS_MAX, undefined, { ref: false })]);
    },
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
