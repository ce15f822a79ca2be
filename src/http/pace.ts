import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createRecent } from '../exchange/recent';
import { PACE } from '../wire/limits';
import { DUMPED_MAX_BYTES, type MeteredRequest } from './metered-request';

/**
 * Points of each address, which come back steadily. The work they pay for has happened, so they may be owed; an address
 * in debt waits before any more work is done for it. A refusal costs a process nearly as much as an answer: a client
 * that waits for its answers sends less when they come later, and one that does not waits unread.
 *
 * Each process counts for itself, in memory: what is protected is the process.
 */
export interface Pace {
  charge(address: string, points: number): void;
  /** Until nothing is owed. */
  debtMs(address: string): number;
  /** Calls `then` now or, for an address in debt, when its debt is paid, `holdMs` at most. Never, once the peer is gone. */
  whenPaid(address: string, socket: Duplex, then: () => void): void;
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

const ADDRESSES_MAX = 10_000;
/** Connections held at once; above it those that would be held are closed. */
const HELD_MAX = 2_000;

/** For RATE_LIMIT=off. */
export const noPace: Pace = {
  charge: () => undefined,
  debtMs: () => 0,
  whenPaid: (_address, _socket, then) => then(),
};

export function createPace({ pointsPerSecond, burst, holdMs, debtMs }: PaceRate): Pace {
  const purses = createRecent<Purse>(ADDRESSES_MAX);
  const perMs = pointsPerSecond / 1_000;
  let held = 0;

  function purseOf(address: string): Purse {
    const nowMs = performance.now();
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

  return {
    charge(address, points) {
      const purse = purseOf(address);
      purse.points = Math.max(purse.points - points, -debtMs * perMs);
    },
    debtMs: debtOf,
    whenPaid(address, socket, then) {
      const owedMs = debtOf(address);
      if (owedMs === 0) {
        then();
        return;
      }
      if (held >= HELD_MAX) {
        socket.destroy();
        return;
      }
      held++;
      setTimeout(
        () => {
          held--;
          if (!socket.destroyed) then();
        },
        Math.min(holdMs, owedMs),
      );
    },
  };
}

/** Serves a request when its address has paid; what it costs is known when it is answered. */
export function admit(
  pace: Pace,
  address: string,
  request: MeteredRequest,
  response: ServerResponse,
  serve: () => void,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  pace.charge(address, PACE.request + Math.floor(declared / PACE.bytesPerPoint));
  // It comes once.
  response.on('close', () => {
    const { statusCode, headersSent } = response;
    if (headersSent && statusCode >= 400)
      pace.charge(address, statusCode === 429 ? PACE.rateLimited : PACE.refused);
    const { pieces, bytes } = request;
    const unpaid = Math.max(0, bytes - declared) / PACE.bytesPerPoint + pieces / PACE.piecesPerPoint;
    if (unpaid >= 1) pace.charge(address, Math.floor(unpaid));
    if (request.cut) pace.charge(address, PACE.cut);
  });
  const hasLongBody = declared > DUMPED_MAX_BYTES || request.headers['transfer-encoding'] !== undefined;
  // Before Node's own listener, which would read the rest to no end.
  if (hasLongBody)
    response.prependListener('finish', () => {
      if (request.complete) return;
      request.cut = true;
      request.socket.destroy();
    });
  pace.whenPaid(address, request.socket, serve);
}
