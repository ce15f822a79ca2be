import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../../config/load';
import { ERRORS, Refusal } from '../../exchange/errors';
import { PACE, SOCKET_LIMITS } from '../../wire/limits';
import { PROBLEM_TYPE, presentProblem, RETRY_AFTER_SEC } from '../../wire/problem';
import type { Callers } from './callers';
import { createPipelining, type Pipelining } from './pipelining';
import type { Places } from './places';
import type { ExchangeServer } from './sockets';

export const SOCKET_PATH = '/socket.io';

export interface UpgradeOptions extends Callers {
  readonly corsOrigins: Config['corsOrigins'];
  /** False once the process is stopping. */
  readonly isOpen: () => boolean;
  /** Null for RATE_LIMIT=off. */
  readonly places: Pick<Places, 'take'> | null;
}

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Headers that request another protocol. */
const ASKING: ReadonlySet<string> = new Set(['upgrade', 'http2-settings', 'connection']);

/**
 * Gives Socket.IO only its own connections. Refusals have the format of the exchange everywhere; Engine.IO would use its
 * own.
 */
export function serveUpgrades(io: ExchangeServer, server: Server, options: UpgradeOptions): void {
  const serve = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  const before = server.listeners('upgrade');
  io.attach(server);
  const [accept] = server.listeners('upgrade').filter((one) => !before.includes(one)) as UpgradeListener[];
  const { pace, addressOf } = options;
  const turns = createPipelining(
    (request, response) => {
      if (isOurs(request)) paced(request, request.socket, options, () => refuseRequest(response));
      else for (const listener of serve) listener.call(server, request, response);
    },
    {
      waits: (request) => pace.charge(addressOf(request), PACE.request),
      // guardTransport listens.
      dropped: (request) => server.emit('dropRequest', request, request.socket),
    },
  );
  server.removeAllListeners('request');
  server.on('request', turns.serve);
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // After the answers to the requests before it.
    whenAnswered(turns, socket, () => {
      if (!isOurs(request)) return readAgain(server, request, socket, head);
      paced(request, socket, options, (owedMs) => {
        const refusal = inDebt(owedMs) ?? refusalOf(request, options) ?? noPlace(request, socket, options);
        if (refusal) refuseUpgrade(socket, refusal);
        else accept?.call(server, request, socket, head);
      });
    });
  });
}

function whenAnswered(turns: Pipelining, socket: Duplex, then: () => void): void {
  // Node has removed its listeners; an error of the connection must not end the process.
  const onError = () => socket.destroy();
  socket.on('error', onError);
  turns.whenQuiet(socket, () => {
    // The answers close before a connection that was reset says its error.
    if (socket.destroyed) return;
    socket.off('error', onError);
    then();
  });
}

/** A request costs its address the same whether it is admitted or refused. An address in debt waits, at no further cost. */
function paced(
  request: IncomingMessage,
  socket: Duplex,
  { pace, addressOf }: UpgradeOptions,
  then: (owedMs: number) => void,
): void {
  const address = addressOf(request);
  // Node has removed its listeners; an error of the connection must not end the process.
  const onError = () => socket.destroy();
  socket.on('error', onError);
  const go = (owedMs: number): void => {
    socket.off('error', onError);
    then(owedMs);
  };
  const paid = (): void => {
    pace.charge(address, SOCKET_LIMITS.pace.upgrade);
    go(0);
  };
  pace.whenPaid(address, socket, paid, () => go(pace.debtMs(address)));
}

function inDebt(owedMs: number): Refusal | null {
  if (owedMs === 0) return null;
  const detail =
    'the sockets of this IP have sent, or were opened, more than they may: open fewer, less often';
  return new Refusal('RATE_LIMITED', detail, { scope: 'sockets', retryAfterMs: owedMs });
}

const isOurs = ({ url = '' }: IncomingMessage): boolean =>
  url.startsWith(SOCKET_PATH) && /^[/?]|^$/.test(url.slice(SOCKET_PATH.length));

const ONLY_WEBSOCKET = new Refusal(
  'INVALID_REQUEST',
  'sockets are served over WebSocket by Engine.IO 4: connect with transports: ["websocket"] and a client of Socket.IO 3 or 4',
);

/** Each member once, and no session: those of Engine.IO go on by polling alone. */
function speaksOurs(url: string): boolean {
  const query = new URLSearchParams(url.split('?')[1]);
  const isOnly = (name: string, value: string): boolean => query.getAll(name).join() === value;
  return isOnly('EIO', '4') && isOnly('transport', 'websocket') && !query.has('sid');
}

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSIONS: ReadonlySet<string> = new Set(['8', '13']);

/** Whether the library accepts the handshake; its own refusal would be HTML. */
const isHandshake = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers.upgrade?.toLowerCase() === 'websocket' &&
  KEY.test(headers['sec-websocket-key'] ?? '') &&
  VERSIONS.has(headers['sec-websocket-version'] ?? '');

function refusalOf(request: IncomingMessage, { corsOrigins, isOpen }: UpgradeOptions): Refusal | null {
  const { origin } = request.headers;
  if (!isOpen()) return new Refusal('UNAVAILABLE', 'this process is shutting down; connect again');
  if (!speaksOurs(request.url ?? '') || !isHandshake(request)) return ONLY_WEBSOCKET;
  // Browsers do not check the origin of a WebSocket, so the server does.
  if (origin === undefined || corsOrigins === '*' || corsOrigins.includes(origin)) return null;
  return new Refusal(
    'FORBIDDEN',
    'connections from this origin are not allowed; the operator can add it to CORS_ORIGINS',
  );
}

/** Takes a place for as long as the connection lasts; refuses when there is none. */
function noPlace(
  request: IncomingMessage,
  socket: Duplex,
  { places, addressOf }: UpgradeOptions,
): Refusal | null {
  if (!places) return null;
  const giveBack = places.take(addressOf(request));
  if (!giveBack) {
    const detail = `one IP may have ${SOCKET_LIMITS.perIp} open sockets; close one, or follow more markets with one socket`;
    return new Refusal('RATE_LIMITED', detail, { scope: 'sockets' });
  }
  socket.once('close', giveBack);
  return null;
}

const problemText = ({ code, message, extra }: Refusal, requestId: string): string =>
  JSON.stringify(presentProblem({ code, detail: message, extra }, requestId));

/** Long polling is off, because it would need every request of a client to reach the same replica. */
function refuseRequest(response: ServerResponse): void {
  const requestId = randomUUID();
  const text = problemText(ONLY_WEBSOCKET, requestId);
  response.writeHead(ONLY_WEBSOCKET.status, {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': Buffer.byteLength(text),
    'X-Request-Id': requestId,
    Connection: 'close',
  });
  response.end(text);
}

function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const requestId = randomUUID();
  const text = problemText(refusal, requestId);
  const retryAfterSec = Math.max(RETRY_AFTER_SEC, Math.ceil(Number(refusal.extra.retryAfterMs ?? 0) / 1_000));
  socket.on('error', () => undefined);
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${ERRORS[refusal.code].title}`,
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Request-Id: ${requestId}`,
      ...(refusal.status === 429 || refusal.status === 503 ? [`Retry-After: ${retryAfterSec}`] : []),
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
    () => socket.destroy(),
  );
}

/**
 * A server that accepts upgrades receives every request that offers one. Java's HTTP client, for example, offers HTTP/2 with
 * its first request. The server may ignore the offer, as Node does without a listener: it reads the request again without
 * the offer.
 */
function readAgain(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? '';
    if (!ASKING.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[i + 1]}`);
  }
  if (/\bclose\b/i.test(request.headers.connection ?? '')) lines.push('Connection: close');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
