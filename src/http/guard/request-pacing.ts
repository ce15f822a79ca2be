import type { Duplex } from 'node:stream';
import { createRecent } from '../../exchange/recent';

/**
 * Points of each address, which refill steadily. They pay for work already done, so an address may owe points; while it does,
 * its requests wait before any more work is done for them. A refusal costs a process nearly as much as an answer. A client
 * that waits for its answers sends less when they come later; the requests of other clients wait unread.
 *
 * Each process counts for itself, in memory, because the limit protects the process.
 */
export interface Pace {
  /** False for RATE_LIMIT=off. */
  readonly isOn: boolean;
  /** Charges points; negative points are refunded. */
  charge(address: string, points: number): void;
  /** The time until nothing is owed. */
  debtMs(address: string): number;
  /**
   * Calls `then` now or, for an address in debt, when the debt is paid: one request after the other. After `holdMs` it calls
   * `late` instead. It calls neither once the peer has disconnected.
   */
  whenPaid(address: string, socket: Duplex, then: () => void, late: () => void): void;
}

export interface PaceRate {
  readonly pointsPerSecond: number;
  readonly burst: number;
  readonly holdMs: number;
  readonly debtMs: number;
}

interface Purse {
  points: number;
  atMs: number;
}

interface Waiting {
  readonly socket: Duplex;
  readonly untilMs: number;
  readonly then: () => void;
  readonly late: () => void;
}

/** The requests and connections of one address that wait, the oldest first, and the next look at them. */
interface Line {
  readonly waiting: Waiting[];
  timer: NodeJS.Timeout | undefined;
}

const ADDRESSES_MAX = 10_000;
/** Requests held at once of one address, and of all; above it the connections of those that would be held are closed. */
const HELD_EACH_MAX = 1_000;
const HELD_ALL_MAX = 10_000;

/** The clock of all points and of all connections: tests stop it, so that none depends on the speed of a machine. */
export const paceClock = { nowMs: (): number => performance.now() };

/** No pacing, with RATE_LIMIT=off. */
export const noPace: Pace = {
  isOn: false,
  charge: () => undefined,
  debtMs: () => 0,
  whenPaid: (_address, _socket, then) => then(),
};

export function createPace({ pointsPerSecond, burst, holdMs, debtMs }: PaceRate): Pace {
  const purses = createRecent<Purse>(ADDRESSES_MAX);
  const perMs = pointsPerSecond / 1_000;
  const lines = new Map<string, Line>();
  let held = 0;

  function purseOf(address: string): Purse {
    const nowMs = paceClock.nowMs();
    let purse = purses.get(address);
    if (purse === undefined) {
      purse = { points: burst, atMs: nowMs };
      purses.put(address, purse);
    }
    purse.points = Math.min(burst, purse.points + (nowMs - purse.atMs) * perMs);
    purse.atMs = nowMs;
    return purse;
  }

  const debtOf = (address: string): number => Math.max(0, -purseOf(address).points / perMs);

  /** The oldest waiting request goes first: its answer costs points, and the next request waits for those. */
  function advance(address: string, line: Line): void {
    const { waiting } = line;
    for (let first = waiting[0]; first; first = waiting[0]) {
      const owedMs = debtOf(address);
      const leftMs = first.untilMs - paceClock.nowMs();
      if (owedMs > 0 && leftMs > 0 && !first.socket.destroyed) {
        line.timer = setTimeout(advance, Math.min(owedMs, leftMs), address, line);
        return;
      }
      waiting.shift();
      held--;
      if (first.socket.destroyed) continue;
      if (owedMs > 0) first.late();
      else first.then();
    }
    lines.delete(address);
  }

  return {
    isOn: true,
    charge(address, points) {
      const purse = purseOf(address);
      purse.points = Math.max(purse.points - points, -debtMs * perMs);
      const line = points < 0 ? lines.get(address) : undefined;
      if (!line) return;
      // A loan is paid back sooner than the line expects.
      clearTimeout(line.timer);
      line.timer = setTimeout(advance, 0, address, line);
    },
    debtMs: debtOf,
    whenPaid(address, socket, then, late) {
      const line = lines.get(address);
      if (!line && debtOf(address) === 0) {
        then();
        return;
      }
      if (held >= HELD_ALL_MAX || (line && line.waiting.length >= HELD_EACH_MAX)) {
        socket.destroy();
        return;
      }
      held++;
      const waiting = { socket, untilMs: paceClock.nowMs() + holdMs, then, late };
      if (line) {
        line.waiting.push(waiting);
        return;
      }
      const opened: Line = { waiting: [waiting], timer: undefined };
      lines.set(address, opened);
      advance(address, opened);
    },
  };
}
