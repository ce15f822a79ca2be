import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { sendRaw } from '../support/raw-http';
import { type StoppedClock, stopClock } from '../support/stopped-clock';
import { until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Attacks of one address with connections: pieces of bodies, malformed requests, tunnels. */
let exchange: WebReplicas;
let port: number;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
  port = exchange.replicas[0].port;
});
afterAll(() => exchange.stop());

let clock: StoppedClock | undefined;
/** Every test is another address, so that none has spent what the next one counts. */
let address = '127.0.0.1';
let addresses = 1;
beforeEach(() => {
  address = `127.0.0.${++addresses}`;
});
afterEach(() => clock?.release());

const chunked = (line: string): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
const PIECE = '1\r\n \r\n';
/** The patience of a test on a busy machine. */
const PATIENCE_MS = 100_000;
jest.setTimeout(2 * PATIENCE_MS);

/** The status of the answer to one request on a connection of its own; NaN without one. Resolves when the server hangs up. */
function statusOf(request: string, from = address): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => socket.write(request));
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('close', () => resolve(Number(text.split(' ')[1])));
  });
}

const AT_ONCE = 50;

/** The statuses of answers as they come in. */
function answersOf(requests: readonly string[]): { statuses: number[]; all: Promise<unknown> } {
  const statuses: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < requests.length; i = next++) statuses.push(await statusOf(requests[i] ?? ''));
  };
  return { statuses, all: Promise.all(Array.from({ length: AT_ONCE }, lane)) };
}

/** Another address is served meanwhile, many times over. */
async function lookAround(): Promise<void> {
  for (let i = 0; i < 30; i++)
    expect(await statusOf('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', BYSTANDER)).toBe(
      200,
    );
}
const BYSTANDER = '127.0.0.250';

/** Whether the server hangs up while the client goes on sending. */
function isCut(head: string, more: string): Promise<boolean> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    // Pieces written before the connection opens would arrive before the head.
    const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: address }, () => {
      socket.write(head);
      timer = setInterval(() => socket.write(more), 20);
    });
    const end = (cut: boolean): void => {
      clearInterval(timer);
      clearTimeout(patience);
      socket.destroy();
      resolve(cut);
    };
    const patience = setTimeout(() => end(false), PATIENCE_MS);
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => end(true));
  });
}

test('a body of single bytes ends the connection, whether or not the path needs a body', async () => {
  for (const line of ['GET /time', 'POST /auth/refresh', 'POST /nothing/here']) {
    expect([line, await isCut(chunked(line), PIECE.repeat(500))]).toEqual([line, true]);
  }
});

test('a connection whose request is answered before its body has ended is closed', async () => {
  expect(await isCut(chunked('GET /time'), PIECE)).toBe(true);
});

test('a connection that sends line ends and no request is closed', async () => {
  expect(await isCut('\r\n', '\r\n'.repeat(100_000))).toBe(true);
});

test('an address pays for connections that are cut: the next request waits', async () => {
  clock = stopClock();
  let cut = 0;
  for (let i = 0; i < 12; i++)
    void isCut(chunked('GET /time'), PIECE.repeat(500)).then((isIt) => {
      cut += Number(isIt);
    });
  // Each costs 200 points and 32 for its pieces, and the burst is 1,000; the others wait in debt.
  await until('the burst is used up', () => cut >= 5, { patienceMs: PATIENCE_MS });
  const request = 'GET /time HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const own = answersOf([request]);
  await lookAround();
  expect(own.statuses).toEqual([]);
  clock.release();
  await own.all;
  await until('the debt is paid', async () => (await statusOf(request)) === 200, { patienceMs: PATIENCE_MS });
});

test('a body in a thousand pieces is accepted', async () => {
  const body = [...'{}'.padEnd(1_000)].map((one) => `1\r\n${one}\r\n`).join('');
  const answer = await sendRaw(port, `${chunked('POST /auth/refresh')}${body}0\r\n\r\n`, PATIENCE_MS);
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, 'INVALID_REQUEST']);
});

test('a GET with a small body keeps its connection', async () => {
  const one = 'GET /time HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
  const last = one.replace('Host', 'Connection: close\r\nHost');
  const { text } = await sendRaw(port, one + last, PATIENCE_MS);
  expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(1);
});

test('a connection that repeatedly offers other protocols leaves nothing behind', async () => {
  const accepted: Socket[] = [];
  const hear = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', hear);
  const client = connect(port, '127.0.0.1');
  let text = '';
  client.on('data', (data) => {
    text += data;
  });
  const offer = async (count: number): Promise<number> => {
    for (let i = 1; i <= count; i++) {
      client.write('GET /time HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
      await until('it is answered', () => text.split('"timestamp"').length > i, { patienceMs: PATIENCE_MS });
    }
    text = '';
    const served = accepted.find(({ remotePort }) => remotePort === client.localPort);
    return served?.listenerCount('close') ?? Number.NaN;
  };
  expect(await offer(20)).toBe(await offer(1));
  client.destroy();
  unsubscribe('net.server.socket', hear);
});

/** A connection costs a point, and what is refused 4: the burst pays for nearly 200 of them. */
const REFUSED = 300;
const PAID = 180;

test.each([
  ['bytes that are no request', 'nonsense\r\n\r\n', 400],
  ['tunnels', 'CONNECT other:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
])('an address in debt waits for the answers to its %s', async (_what, request, status) => {
  clock = stopClock();
  const own = answersOf(Array.from({ length: REFUSED }, () => request));
  await until('the burst is used up', () => own.statuses.length >= PAID, { patienceMs: PATIENCE_MS });
  await lookAround();
  expect(own.statuses.length).toBeLessThan(PAID + AT_ONCE);
  clock.release();
  await own.all;
  // Connections that have waited a second are closed unread.
  expect(new Set(own.statuses.filter((seen) => !Number.isNaN(seen)))).toEqual(new Set([status]));
  expect(own.statuses).toHaveLength(REFUSED);
});
