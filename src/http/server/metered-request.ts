import { IncomingMessage, type ServerResponse } from 'node:http';
import { Refusal } from '../../exchange/errors';
import { PACE } from '../../wire/limits';
import type { Pace } from '../guard/request-pacing';
import { idFor, REQUEST_ID, sendProblem } from './answer';

/** A body arrives in a piece for each TCP segment or chunk; the largest body has five hundred of the smallest usual ones. */
const PIECES_MAX = 2_048;
/** The unread rest of a declared body is read up to here, so that the connection can be reused. */
const DUMPED_MAX_BYTES = 65_536;

export interface MeteredRequest extends IncomingMessage {
  readonly pieces: number;
  readonly bytes: number;
  /** Set by client-address.ts. */
  addressKey: string | undefined;
  /** The connection was closed in the middle of the body. */
  cut: boolean;
}

/**
 * A class of requests that count their bodies as they arrive. A piece costs the same however small it is, so too many
 * pieces end the connection, even if the body has no reader. Each application has its own class, because it sets other
 * prototypes.
 */
export const createRequestClass = () =>
  class extends IncomingMessage implements MeteredRequest {
    pieces = 0;
    bytes = 0;
    addressKey: string | undefined = undefined;
    cut = false;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk === null) return super.push(chunk, encoding);
      // The parser continues to the end of its buffer.
      if (this.cut) return false;
      this.pieces++;
      this.bytes += chunk.length;
      if (this.pieces <= PIECES_MAX) return super.push(chunk, encoding);
      this.cut = true;
      this.socket.destroy();
      return false;
    }
  };

/** The largest cost of a request: its address lends it while the request is in progress. */
const LENT = PACE.rateLimited;

/**
 * Serves a request when its address has paid. The cost is known only when the request is answered; without the loan all
 * waiting requests would be served before the first of them had cost anything.
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
    const answered = request.method === 'HEAD' ? 0 : Number(response.getHeader('content-length') ?? 0);
    const unpaid =
      Math.max(0, bytes - declared) / PACE.bytesPerPoint +
      pieces / PACE.piecesPerPoint +
      answered / PACE.answerBytesPerPoint;
    if (unpaid >= 1) pace.charge(address, Math.floor(unpaid));
    if (request.cut) pace.charge(address, PACE.cut);
  });
  const hasLongBody = declared > DUMPED_MAX_BYTES || request.headers['transfer-encoding'] !== undefined;
  // Before Node's own listener, which would read the rest without end.
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
  pace.whenPaid(address, request.socket, paid, () => refuse(request, response, pace.debtMs(address)));
}

/** The address sends more than its share, so its requests are not served. */
function refuse(request: MeteredRequest, response: ServerResponse, retryAfterMs: number): void {
  response.setHeader(REQUEST_ID, idFor(request));
  response.setHeader('RateLimit-Policy', `"pace";q=${PACE.pointsPerSecond};w=1;burst=${PACE.burst}`);
  response.setHeader('RateLimit', `"pace";r=0;t=${Math.max(1, Math.ceil(retryAfterMs / 1_000))}`);
  response.setHeader('Connection', 'close');
  const detail = 'the requests of this IP wait for points, and too many of them do: send fewer at once';
  sendProblem(response, new Refusal('RATE_LIMITED', detail, { scope: 'pace', retryAfterMs }));
}
