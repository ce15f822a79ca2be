import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../exchange/errors';
import { PACE } from '../../wire/limits';
import { addressKey, clientAddress } from '../guard/client-address';
import type { Pace } from '../guard/request-pacing';
import { watchConnections } from '../guard/slow-clients';
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

/** Bytes of unread answers that cost their address one point at each check. */
const UNTAKEN_BYTES_PER_POINT = 65_536;

/** Node has already sent its answer, or the client has disconnected. */
function isAnswered(socket: Socket): boolean {
  const current = '_httpMessage' in socket ? (socket._httpMessage as ServerResponse | null) : null;
  return !socket.writable || current?.headersSent === true;
}

/** Answers bytes that are not a request, and ends the connection. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || isAnswered(socket)) {
    socket.destroy();
    return;
  }
  const { status, reason, code, detail } = PROBLEMS.get(error.code ?? '') ?? MALFORMED;
  socket.end(rawProblem(status, reason, code, detail, randomUUID()), () => socket.destroy());
}

/** This server is no proxy. */
function refuseTunnel(socket: Duplex): void {
  const problem = rawProblem(
    405,
    'Method Not Allowed',
    'METHOD_NOT_ALLOWED',
    'no tunnels here',
    randomUUID(),
  );
  // The client may keep its half open, and nothing else ends a connection that Node has let go of.
  socket.end(problem.replace('\r\n', '\r\nAllow: GET, HEAD, POST, OPTIONS\r\n'), () => socket.destroy());
}

function refuseConnection(socket: Socket): void {
  const detail = `one IP may have ${PACE.connections} open connections; close some, or send more requests over each`;
  const problem = rawProblem(429, 'Too Many Requests', 'RATE_LIMITED', detail, randomUUID());
  socket.end(problem.replace('\r\n', '\r\nRetry-After: 1\r\n'), () => socket.destroy());
}

/**
 * The costs of a connection outside its requests. The address of the peer pays them, unless it is a proxy: a proxy has many
 * clients, and sends neither malformed requests nor many connections for one of them. A tunnel names its client.
 */
export function guardTransport(server: Server, pace: Pace, behindProxy: boolean): void {
  const open = new Map<string, Set<Socket>>();
  const peerOf = (socket: Socket): string => addressKey(socket.remoteAddress ?? '') ?? 'unknown';
  /**
   * A connection that has waited borrows what it may cost until its first request, or the bytes that are none. Without the
   * loan all connections that wait would be read before the first of them has cost anything: 50 of them took 0.65 of a core, and 0.14 with it.
   */
  const lent = new WeakSet<Duplex>();
  const giveBack = (socket: Socket): void => {
    if (lent.delete(socket)) pace.charge(peerOf(socket), -PACE.cut);
  };
  const refuse = (address: string, socket: Duplex, answer: () => void): void => {
    const paid = (): void => {
      pace.charge(address, PACE.request + PACE.refused);
      answer();
    };
    // Node has removed its listeners; an error of the connection must not end the process.
    socket.on('error', () => socket.destroy());
    pace.whenPaid(address, socket, paid, () => socket.destroy());
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    giveBack(socket);
    if (behindProxy) answerClientError(error, socket);
    else refuse(peerOf(socket), socket, () => answerClientError(error, socket));
  });
  server.on('connect', (request, socket) =>
    refuse(clientAddress(request), socket, () => refuseTunnel(socket)),
  );
  /** False when its address has more connections than it may. */
  const count = (address: string, socket: Socket): boolean => {
    const own = open.get(address) ?? new Set();
    open.set(address, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0) open.delete(address);
    });
    return own.size <= PACE.connections;
  };
  const upgraded = new WeakSet<Duplex>();
  server.on('upgrade', ({ socket }: IncomingMessage) => upgraded.add(socket));
  server.on('connection', (socket: Socket) => upgraded.delete(socket));
  // So many pipelined requests are an attack. The other connections of the address end, too: bytes are parsed before they are paid for.
  server.on('dropRequest', (request: IncomingMessage, socket: Socket) => {
    pace.charge(behindProxy ? clientAddress(request) : peerOf(socket), PACE.cut);
    for (const one of open.get(peerOf(socket)) ?? [socket]) if (!upgraded.has(one)) one.destroy();
  });
  watchConnections(server, {
    opened: (socket) => {
      const address = peerOf(socket);
      if (behindProxy || !pace.isOn || count(address, socket)) return;
      // Later ones are not worth an answer.
      if (pace.debtMs(address) > 0) socket.destroy();
      else refuseConnection(socket);
      pace.charge(address, PACE.request + PACE.refused);
    },
    ended: (socket) => behindProxy || pace.charge(peerOf(socket), PACE.cut),
    untaken: (socket, bytes) => behindProxy || pace.charge(peerOf(socket), bytes / UNTAKEN_BYTES_PER_POINT),
  });
  if (behindProxy) return;
  // Before the request itself is admitted.
  for (const event of ['request', 'connect', 'upgrade'])
    server.prependListener(event, ({ socket }: IncomingMessage) => giveBack(socket));
  server.on('connection', (socket: Socket) => {
    if (socket.writableEnded || socket.destroyed) return;
    const address = peerOf(socket);
    pace.charge(address, PACE.connection);
    if (pace.debtMs(address) === 0) return;
    // Its bytes are not parsed while it waits. Node has planned to resume it in this turn, which would undo an earlier pause.
    process.nextTick(() => {
      socket.pause();
      const resume = (): void => {
        lent.add(socket);
        pace.charge(address, PACE.cut);
        socket.resume();
      };
      pace.whenPaid(address, socket, resume, () => socket.destroy());
    });
  });
}
