import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../exchange/errors';
import { rawProblem } from './answer';

interface TransportProblem {
  readonly status: number;
  readonly reason: string;
  readonly code: ErrorCode;
  readonly detail: string;
}

const MALFORMED: TransportProblem = {
  status: 400,
  reason: 'Bad Request',
  code: 'INVALID_REQUEST',
  detail: 'the request is not valid HTTP',
};

const PROBLEMS: ReadonlyMap<string, TransportProblem> = new Map([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      status: 408,
      reason: 'Request Timeout',
      code: 'REQUEST_TIMEOUT',
      detail: 'the headers must be complete within 10 s, headers and body within 15 s',
    },
  ],
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: 431,
      reason: 'Request Header Fields Too Large',
      code: 'INVALID_REQUEST',
      detail: 'the headers may have at most 16 kB in total',
    },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    {
      status: 413,
      reason: 'Payload Too Large',
      code: 'PAYLOAD_TOO_LARGE',
      detail: 'the chunk extensions of the body are too long',
    },
  ],
]);

/** The answer of Node has already been sent, or the client is gone. */
function isAnswered(socket: Socket): boolean {
  const current = '_httpMessage' in socket ? (socket._httpMessage as ServerResponse | null) : null;
  return !socket.writable || current?.headersSent === true;
}

/** For the server's 'clientError': answers bytes that did not become a request, and ends the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || isAnswered(socket)) {
    socket.destroy();
    return;
  }
  const { status, reason, code, detail } = PROBLEMS.get(error.code ?? '') ?? MALFORMED;
  socket.end(rawProblem(status, reason, code, detail, randomUUID()), () => socket.destroy());
}

/** For the server's 'connect': we are no proxy. */
export function refuseTunnel(_request: unknown, socket: Duplex): void {
  const problem = rawProblem(
    405,
    'Method Not Allowed',
    'METHOD_NOT_ALLOWED',
    'no tunnels here',
    randomUUID(),
  );
  socket.end(problem.replace('\r\n', '\r\nAllow: GET, HEAD, POST, OPTIONS\r\n'));
}
