import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Refusal } from '../exchange/errors';
import { createRecent } from '../exchange/recent';
import { PACE } from '../wire/limits';
import { REQUEST_ID, sendProblem } from './answer';
import { DUMPED_MAX_BYTES, type MeteredRequest } from './metered-request';

/**
 * Points of each address, which come back steadily. The work they pay for has happened, so they may be owed; an address
 * in debt waits before any more work is done for it. A refusal costs a process nearly as much as an answer: a client
 * that waits for its answers sends less when they come later, and one that does not waits unread.
 *
 * Each process counts for itself, in memory: what is protected is the process.
 */
export interface Pace {
  /** Fewer than none are given back. */
  charge(address: string, points: number): void;
  /** Until nothing is owed. */
  debtMs(address: string): number;
  /**
   * Calls `then` now or, for an address in debt, in its turn when the debt is paid: one after the other, however many
   * wait. After `holdMs` it calls `late` instead. Neither, once the peer is gone.
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
  const lines = new Map<string, Waiting[]>();
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

  /** The request that has waited longest goes first: its answer costs points, and the next one waits for those. */
  function advance(address: string, line: Waiting[]): void {
    for (let first = line[0]; first; first = line[0]) {
      const owedMs = debtOf(address);
      const leftMs = first.untilMs - performance.now();
      if (owedMs > 0 && leftMs > 0 && !first.socket.destroyed) {
        setTimeout(advance, Math.min(owedMs, leftMs), address, line);
        return;
      }
      line.shift();
      held--;
      if (first.socket.destroyed) continue;
      if (owedMs > 0) first.late();
      else first.then();
    }
    lines.delete(address);
  }

  return {
    charge(address, points) {
      const purse = purseOf(address);
      purse.points = Math.max(purse.points - points, -debtMs * perMs);
    },
    debtMs: debtOf,
    whenPaid(address, socket, then, late) {
      const line = lines.get(address);
      if (!line && debtOf(address) === 0) {
        then();
        return;
      }
      if (held >= HELD_MAX) {
        socket.destroy();
        return;
      }
      held++;
      const waiting = { socket, untilMs: performance.now() + holdMs, then, late };
      if (line) {
        line.push(waiting);
        return;
      }
      const opened = [waiting];
      lines.set(address, opened);
      advance(address, opened);
    },
  };
}

/** The dearest outcome of a request: its address lends it while the request is under way. */
const LENT = PACE.rateLimited;

/**
 * Serves a request when its address has paid; what it costs is known when it is answered. Without the loan all requests
 * that wait would be served before the first of them has cost anything.
 */
export function admit(
  pace: Pace,
  address: string,
  request: MeteredRequest,
  response: ServerResponse,
  serve: () => void,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  let lent = 0;
  // It comes once.
  response.on('close', () => {
    const { statusCode, headersSent } = response;
    const isRefused = headersSent && statusCode >= 400;
    pace.charge(address, (isRefused ? (statusCode === 429 ? PACE.rateLimited : PACE.refused) : 0) - lent);
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
  const paid = (): void => {
    lent = LENT;
    pace.charge(address, PACE.request + Math.floor(declared / PACE.bytesPerPoint) + lent);
    serve();
  };
  pace.whenPaid(address, request.socket, paid, () => refuse(response, pace.debtMs(address)));
}

/** The address asks for so much that its requests do not get their turn. */
function refuse(response: ServerResponse, retryAfterMs: number): void {
  response.setHeader(REQUEST_ID, randomUUID());
  response.setHeader('Connection', 'close');
  const detail = 'the requests of this IP wait for points, and too many of them do: send fewer at once';
  sendProblem(response, new Refusal('RATE_LIMITED', detail, { scope: 'pace', retryAfterMs }));
}
