import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from './lease';

/** Wait before a process takes another lease, for each that it holds. */
const STEP_MS = 200;
/** With many leases the steps are shorter, so that one process alone has all of them about so soon. */
const ALL_MS = 1_600;
/** The time for which a partition that does not answer holds up the leases of the others. */
const ATTEMPT_MS = 500;

/**
 * Spreads the leases of several partitions over the processes: the more leases a process has, the longer it waits before it takes another.
 * A single lease stays as it is.
 */
export function createSpread(count: number): (lease: Lease) => Lease {
  if (count < 2) return (lease) => lease;
  const stepMs = Math.min(STEP_MS, (2 * ALL_MS) / count ** 2);
  const held = new Set<Lease>();
  let turn: Promise<unknown> = Promise.resolve();

  function noted(lease: Lease, isHeld: boolean): boolean {
    if (isHeld) held.add(lease);
    else held.delete(lease);
    return isHeld;
  }

  /** One after the other, because each that is taken makes the others wait longer. Null: this process got another one meanwhile. */
  function attempt(lease: Lease, most: number, take: () => Promise<boolean>): Promise<boolean | null> {
    const attempted = turn.then(async () => (held.size > most ? null : noted(lease, await take())));
    const ended = attempted.catch(() => undefined);
    turn = turn.then(() => Promise.race([ended, sleep(ATTEMPT_MS, undefined, { ref: false })]));
    return attempted;
  }

  return (lease) => {
    async function take(token: string, lifeMs: number): Promise<boolean> {
      const again = () => lease.take(token, lifeMs);
      if (held.has(lease)) return noted(lease, await again());
      for (let waited = 0; ; ) {
        const others = held.size;
        await sleep(stepMs * Math.max(0, others - waited));
        waited = Math.max(waited, others);
        const taken = await attempt(lease, waited, again);
        if (taken !== null) return taken;
      }
    }

    return {
      take,
      renew: async (token, lifeMs, position) => noted(lease, await lease.renew(token, lifeMs, position)),
      async release(token) {
        held.delete(lease);
        await lease.release(token);
      },
      position: lease.position,
    };
  };
}
