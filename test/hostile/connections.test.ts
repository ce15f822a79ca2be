import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { sendRaw } from '../support/raw-http';
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

const chunked = (line: string): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
const PIECE = '1\r\n \r\n';
const PATIENCE_MS = 5_000;

/** Whether the server closes the connection while the client keeps sending. */
function isCut(head: string, more: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(head));
    const timer = setInterval(() => socket.write(more), 20);
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
  for (let i = 0; i < 12; i++) await isCut(chunked('GET /time'), PIECE.repeat(500));
  const startedAt = performance.now();
  await sendRaw(port, 'GET /time HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', PATIENCE_MS);
  expect(performance.now() - startedAt).toBeGreaterThan(50);
});

test('a body in a thousand pieces is accepted', async () => {
  const body = [...'{}'.padEnd(1_000)].map((one) => `1\r\n${one}\r\n`).join('');
  const answer = await sendRaw(port, `${chunked('POST /auth/refresh')}${body}0\r\n\r\n`, 1_000);
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, 'INVALID_REQUEST']);
});

test('a GET with a small body keeps its connection', async () => {
  const one = 'GET /time HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
  const { text } = await sendRaw(port, one + one, 1_000);
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
      await until('it is answered', () => text.split('"timestamp"').length > i);
    }
    text = '';
    const served = accepted.find(({ remotePort }) => remotePort === client.localPort);
    return served?.listenerCount('close') ?? Number.NaN;
  };
  expect(await offer(20)).toBe(await offer(1));
  client.destroy();
  unsubscribe('net.server.socket', hear);
});

/** A connection costs a point, and a refused request 4: the burst pays for 200 of them, and each second for 200 more. */
const REFUSED = 500;
const LANES = 50;

test.each([
  ['bytes that are no request', 'nonsense\r\n\r\n', 400],
  ['tunnels', 'CONNECT other:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
])('an address in debt waits for the answers to its %s', async (_what, request, status) => {
  const startedAt = performance.now();
  const lane = async (): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < REFUSED / LANES; i++)
      statuses.push((await sendRaw(port, request, PATIENCE_MS)).status);
    return statuses;
  };
  const statuses = (await Promise.all(Array.from({ length: LANES }, lane))).flat();
  expect(new Set(statuses)).toEqual(new Set([status]));
  expect(performance.now() - startedAt).toBeGreaterThan(1_000);
});
