import { randomBytes } from 'node:crypto';
import type { Logger } from '../../log';
import type { Lease } from '../../store/outbox/lease';
import type { Term } from './broadcaster';

/** A holder that is killed is replaced after at most LEASE_MS + CANDIDATE_EVERY_MS, well within 2 s. */
const LEASE_MS = 1_200;
const RENEW_EVERY_MS = 300;
const CANDIDATE_EVERY_MS = 200;
const TOKEN_BYTES = 12;

export interface LeadershipDeps {
  readonly lease: Lease;
  readonly log: Logger;
  readonly begin: (token: string, leaseMs: number, from: string) => Term;
  /** A predecessor that crashed may have published an update that not every replica received. */
  readonly onBegin: () => void;
  /** The lease was released on purpose. */
  readonly onRelease: () => void;
  /** A candidate waits so much longer; with one outbox, not at all. */
  readonly patienceMs?: () => number;
}

export interface Leadership {
  start(): void;
  /** Tries to take the lease now instead of at its next turn. */
  tryNow(): void;
  /** Token of the lease, and the time since which it is held (`performance.now()`); null without it. */
  held(): { readonly token: string; readonly sinceMs: number } | null;
  /** Releases the lease, and is a candidate again after its patience. */
  giveWay(): Promise<void>;
  /** Releases the lease and takes it no more. */
  stop(): Promise<void>;
}

/** Competes with the other web processes for the lease; while this process holds it, one term broadcasts. */
export function createLeadership(deps: LeadershipDeps): Leadership {
  const { lease, log, begin, onBegin, onRelease, patienceMs = () => 0 } = deps;
  let held: { readonly token: string; readonly sinceMs: number; readonly term: Term } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();
  let stopped = false;

  function next(): void {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(takeTurn, held ? RENEW_EVERY_MS : CANDIDATE_EVERY_MS + patienceMs());
  }

  function tryNow(): void {
    const waitMs = held ? 0 : patienceMs();
    clearTimeout(timer);
    if (waitMs > 0) timer = setTimeout(takeTurn, waitMs);
    else takeTurn();
  }

  function takeTurn(): void {
    clearTimeout(timer);
    // One turn at a time; after a failed one the next follows as usual.
    turn = turn
      .then(() => (stopped ? undefined : step()))
      .catch(() => undefined)
      .finally(next);
  }

  async function step(): Promise<void> {
    if (held === null) return candidate();
    const { token, term } = held;
    const isOurs = await lease.renew(token, LEASE_MS, term.position()).catch(() => false);
    if (!isOurs) await drop('the lease of broadcasting was lost');
  }

  async function candidate(): Promise<void> {
    const token = randomBytes(TOKEN_BYTES).toString('hex');
    if (!(await lease.take(token, LEASE_MS))) return;
    const from = await lease.position();
    const term = begin(token, LEASE_MS, from);
    held = { token, sinceMs: performance.now(), term };
    log.info({ from }, 'broadcasting');
    onBegin();
    void term.ended.then(async () => {
      if (held?.term !== term) return;
      await drop('broadcasting ended');
      // Not before the next turn, so that a fault has a moment to pass.
      await lease.release(token).catch(() => undefined);
    });
  }

  async function drop(why: string): Promise<void> {
    const { term } = held ?? {};
    held = null;
    log.warn(why);
    await term?.stop();
  }

  async function release(): Promise<void> {
    if (held === null) return;
    const { token, term } = held;
    held = null;
    await term.stop();
    await lease.renew(token, LEASE_MS, term.position()).catch(() => false);
    await lease.release(token).catch(() => undefined);
    onRelease();
  }

  return {
    start: tryNow,
    tryNow,
    held: () => held,
    giveWay() {
      turn = turn.then(release).finally(next);
      return turn;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await turn;
      await release();
    },
  };
}
