import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRecent } from '../exchange/recent';
import { PACE } from '../wire/limits';

/**
 * Holds back the requests of an address that asks for more than anybody honest does, before anything is spent on them. A
 * refusal costs a process nearly as much as an answer, so an address that goes on after it was refused is slowed down: a
 * client that waits for its answers then sends less, and one that does not waits unread (src/realtime/sockets/turns.ts).
 *
 * Each process counts for itself, in memory: what is protected is the process.
 */
export interface Pace {
  /** Calls `serve` now or, for an address in debt, when its debt is paid, PACE.holdMs at most. */
  admit(address: string, request: IncomingMessage, response: ServerResponse, serve: () => void): void;
}

interface Purse {
  points: number;
  atMs: number;
}

const ADDRESSES_MAX = 10_000;
/** Requests held at once; above it the connections of those who are held are closed. */
const HELD_MAX = 2_000;
const PER_MS = PACE.pointsPerSecond / 1_000;

/** For RATE_LIMIT=off. */
export const noPace: Pace = { admit: (_address, _request, _response, serve) => serve() };

export function createPace(): Pace {
  const purses = createRecent<Purse>(ADDRESSES_MAX);
  let held = 0;

  function purseOf(address: string): Purse {
    const nowMs = performance.now();
    let purse = purses.get(address);
    if (purse === undefined) {
      purse = { points: PACE.burst, atMs: nowMs };
      purses.put(address, purse);
    }
    purse.points = Math.min(PACE.burst, purse.points + (nowMs - purse.atMs) * PER_MS);
    purse.atMs = nowMs;
    return purse;
  }

  function hold(forMs: number, request: IncomingMessage, serve: () => void): void {
    if (held >= HELD_MAX) {
      request.socket.destroy();
      return;
    }
    held++;
    setTimeout(() => {
      held--;
      if (!request.socket.destroyed) serve();
    }, forMs);
  }

  return {
    admit(address, request, response, serve) {
      const purse = purseOf(address);
      const bytes = Number(request.headers['content-length'] ?? 0);
      purse.points -= PACE.request + Math.floor(bytes / PACE.bytesPerPoint);
      response.once('finish', () => {
        const { statusCode } = response;
        if (statusCode >= 400) purse.points -= statusCode === 429 ? PACE.rateLimited : PACE.refused;
      });
      if (purse.points >= 0) {
        serve();
        return;
      }
      const debtMs = -purse.points / PER_MS;
      // What is owed beyond the longest hold is forgiven: an address is slowed down, not shut out.
      purse.points = Math.max(purse.points, -PACE.holdMs * PER_MS);
      hold(Math.min(PACE.holdMs, debtMs), request, serve);
    },
  };
}
