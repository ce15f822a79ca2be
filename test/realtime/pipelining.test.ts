import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createPipelining } from '../../src/realtime/sockets/pipelining';
import { until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Requests that are sent before the answers to those before them. */
let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas();
});
afterAll(() => exchange?.stop());

const OFFER =
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n';
const get = (id: string, more = '', path = '/time'): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n${more}\r\n`;
const post = (id: string, more = ''): string => {
  const body = JSON.stringify({ refreshToken: 'x' });
  const head = `POST /auth/refresh HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n${more}`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

function open() {
  const socket = connect(exchange.replicas[0].port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  return { socket, ids: () => [...text.matchAll(/X-Request-Id: (\S+)/g)].map(([, id]) => id) };
}

const NOTHING = { waits: () => undefined, dropped: () => undefined };
const IDS = Array.from({ length: 12 }, (_, i) => `r${i}`);

test.each([
  ['each offers HTTP/2', (id: string) => get(id, OFFER)],
  ['every other offers HTTP/2', (id: string, i: number) => get(id, i % 2 ? OFFER : '')],
  ['all but the last offer HTTP/2, with bodies', (id: string, i: number) => post(id, i < 11 ? OFFER : '')],
] as const)('pipelined requests are all answered, in their turn: %s', async (_, request) => {
  const { socket, ids } = open();
  try {
    socket.write(IDS.map(request).join(''));
    await until('all are answered', () => ids().length === IDS.length);
    expect(ids()).toEqual(IDS);
    socket.write(get('later'));
    await until('the connection lives', () => ids().at(-1) === 'later');
  } finally {
    socket.destroy();
  }
});

test('1,000 pipelined requests with bodies are answered in their turn', async () => {
  const { socket, ids } = open();
  const many = Array.from({ length: 1_000 }, (_, i) => `r${i}`);
  try {
    socket.write(many.map((id, i) => (i % 2 ? post(id) : get(id))).join(''));
    await until('all are answered', () => ids().length === many.length);
    expect(ids()).toEqual(many);
  } finally {
    socket.destroy();
  }
});

test('at most 8 requests of one connection are served at once, and further ones are not read', async () => {
  let [underWay, most, read] = [0, 0, 0];
  const turns = createPipelining((request, response) => {
    most = Math.max(most, ++underWay);
    // As a handler that reads a body: Node keeps reading for it, although the connection was paused.
    request.resume();
    setTimeout(() => {
      underWay--;
      response.end(request.headers['x-request-id']);
    }, 20);
  }, NOTHING);
  const server = createServer((request, response) => {
    read++;
    turns.serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  try {
    let text = '';
    let answers = 0;
    socket.on('data', (chunk) => {
      // A line may come in two pieces.
      text += chunk.toString();
      answers = text.split('HTTP/1.1 200').length - 1;
    });
    const filler = `X-Filler: ${'x'.repeat(4_000)}\r\n`;
    const count = 400;
    for (let i = 0; i < count; i++) socket.write(i % 2 ? post(`r${i}`, filler) : get(`r${i}`, filler));
    let ahead = 0;
    await until('all are answered', () => {
      ahead = Math.max(ahead, read - answers);
      return answers === count;
    });
    expect(most).toBe(8);
    // One piece of input may contain more requests than are served at once.
    expect(ahead).toBeLessThan(100);
  } finally {
    socket.destroy();
    server.close();
  }
});

test('a client that resets the connection while an offer waits for the answers before it does no harm', async () => {
  const tries = 400;
  for (let i = 0; i < tries; i++) {
    const socket = connect(exchange.replicas[0].port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(get('before', '', '/markets') + get('offer', OFFER));
    // From before the first answer to after it.
    await new Promise((resolve) => setTimeout(resolve, i % 8));
    socket.resetAndDestroy();
  }
  expect((await exchange.client.get('/time')).status).toBe(200);
}, 60_000);

test('more than 500 requests that wait end the connection, and are not served', async () => {
  const { socket, ids } = open();
  let isOver = false;
  socket.on('close', () => {
    isOver = true;
  });
  // 64 kB are read at once, 3,600 of these.
  socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_600));
  await until('the connection is ended', () => isOver);
  expect(ids().length).toBeLessThanOrEqual(8);
});

test('a websocket behind other requests is opened after their answers', async () => {
  const { socket } = open();
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const path = '/socket.io/?EIO=4&transport=websocket';
  try {
    socket.write(`${get('first', '', '/markets')}${get('second')}${get('third', upgrade, path)}`);
    await until('it is open', () => text.includes('HTTP/1.1 101'));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 101']);
  } finally {
    socket.destroy();
  }
});
