import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { PACE } from '../../src/wire/limits';
import { type StoppedClock, stopClock } from '../support/stopped-clock';
import { sleep, until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The patience of a test on a busy machine. */
const PATIENCE_MS = 100_000;
jest.setTimeout(2 * PATIENCE_MS);

/** Connections that one address keeps: too many, half closed, or with unread answers. */
let exchange: WebReplicas;
let port: number;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
  port = exchange.replicas[0].port;
});
afterAll(() => exchange.stop());

let clock: StoppedClock | undefined;
const opened: Socket[] = [];
afterEach(() => {
  clock?.release();
  for (const socket of opened.splice(0)) socket.destroy();
});

/** Every test is another address, so that none has what the next one counts. */
let addresses = 1;
const newAddress = (): string => `127.0.1.${++addresses}`;

interface Opened {
  readonly socket: Socket;
  /** Whether both directions have ended; a half that the exchange has closed is not the end. */
  isGone(): boolean;
  text(): string;
}

/** A client that keeps its half open when the exchange ends the other. */
function open(address: string, request: string, reads = true): Opened {
  let [text, gone] = ['', false];
  const socket = connect(
    { port, host: '127.0.0.1', localAddress: address, allowHalfOpen: true },
    () => void socket.write(request),
  );
  socket.on('error', () => undefined);
  socket.on('close', () => {
    gone = true;
  });
  if (reads)
    socket.on('data', (data) => {
      text += data;
    });
  else socket.pause();
  opened.push(socket);
  return { socket, isGone: () => gone, text: () => text };
}

/** A connection that is gone at the other end is so for its client as soon as it writes. */
const untilGone = ({ socket, isGone }: Opened): Promise<void> =>
  until(
    'the connection is gone',
    () => {
      if (!isGone()) socket.write(' ');
      return isGone();
    },
    { patienceMs: PATIENCE_MS },
  );

const GET = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

test.each([
  ['a tunnel', 'CONNECT other:1 HTTP/1.1\r\nHost: x\r\n\r\n', ' 405 '],
  ['bytes that are no request', 'nonsense\r\n\r\n', ' 400 '],
  ['a request whose connection ends', GET('/livez', 'Connection: close\r\n'), ' 200 '],
  ['long polling', GET('/socket.io/?EIO=4&transport=polling'), ' 400 '],
  [
    'a socket of an unknown session',
    GET(
      '/socket.io/?EIO=4&transport=websocket&sid=AAAAAAAAAAAAAAAAAAAA',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
    ),
    ' 400 ',
  ],
  [
    'a socket with a key that is none',
    GET(
      '/socket.io/?EIO=4&transport=websocket',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n',
    ),
    ' 400 ',
  ],
])(
  'a client that keeps its half of the connection open after %s is cut off',
  async (_what, request, status) => {
    const one = open(newAddress(), request);
    await until('it is answered', () => one.text().includes(status), { patienceMs: PATIENCE_MS });
    await untilGone(one);
  },
);

test('an address has at most 256 connections at a process: the next one is refused with the reason, other addresses are served, and a closed one frees its place', async () => {
  const address = newAddress();
  const asked = GET('/livez');
  const kept = Array.from({ length: PACE.connections }, () => open(address, asked));
  await until('all are answered', () => kept.every(({ text }) => text().includes(' 200 ')), {
    patienceMs: PATIENCE_MS,
  });
  const refused = open(address, '');
  await until('it is refused', () => refused.text().includes('"status":429'), { patienceMs: PATIENCE_MS });
  expect(refused.text()).toContain(`one IP may have ${PACE.connections} open connections`);
  await untilGone(refused);
  const other = open(newAddress(), asked);
  await until('the other is answered', () => other.text().includes(' 200 '), { patienceMs: PATIENCE_MS });
  kept[0]?.socket.destroy();
  let again = open(address, asked);
  await until(
    'there is place',
    () => {
      if (again.text().includes('"status":429')) again = open(address, asked);
      return again.text().includes(' 200 ');
    },
    { patienceMs: PATIENCE_MS },
  );
});

/** The answers exceed the buffers of the operating system. */
const LARGE = 40;

test('a client that does not take its answers is cut off', async () => {
  clock = stopClock();
  const accepted: Socket[] = [];
  const hear = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', hear);
  const one = open(newAddress(), GET('/openapi.json').repeat(LARGE), false);
  await until('answers wait', () => accepted.some(({ writableLength }) => writableLength > 0), {
    patienceMs: PATIENCE_MS,
  });
  unsubscribe('net.server.socket', hear);
  // The operating system buffers the first answers.
  for (let i = 0; i < 10; i++) {
    clock.forward(10_000);
    await sleep(300);
  }
  await untilGone(one);
});
