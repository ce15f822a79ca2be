import { spawn, spawnSync } from 'node:child_process';
import { io as io4, Manager } from 'socket.io-client';
import { io as io3 } from 'socket.io-client-3';
import { place } from '../support/engine-order';
import { ownChild } from '../support/leftovers';
import { listen } from '../support/listener';
import { sendRaw } from '../support/raw-http';
import type { OpenMarket } from '../support/trader';
import { until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

let exchange: WebReplicas;
let replicas: [Replica, Replica];
let market: OpenMarket;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
  replicas = [await exchange.replica(), await exchange.replica()];
  market = await exchange.market(replicas[0]);
});
afterAll(() => exchange.stop());

const port = (): number => replicas[0].web.port;

test.each([
  ['4', io4],
  ['3', io3],
])('socket.io-client %s subscribes and receives', async (_version, io) => {
  const connect = io as typeof io4;
  const socket = connect(replicas[1].url, { transports: ['websocket'], forceNew: true });
  const snapshot = new Promise<unknown>((resolve) => socket.once('orderbook:snapshot', resolve));
  const updates: { marketId: string; reason: string }[] = [];
  socket.on('orderbook:update', (update) => void updates.push(update));
  const ack = await new Promise((resolve) => socket.emit('subscribe', market.conditionId, resolve));
  expect(ack).toMatchObject({ ok: true });
  expect(await snapshot).toMatchObject({ marketId: market.id });
  await place(exchange, market);
  // The update of the market's creation may come first.
  const isOfTheOrder = ({ marketId, reason }: (typeof updates)[number]) =>
    marketId === market.id && reason === 'ORDER';
  await until('the update of the order', () => updates.some(isOfTheOrder));
  socket.close();
});

/** Debian's packages are for Debian's Python; another one may stand in front of it. */
const python = ['python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import socketio, websocket']).status === 0,
);
const PYTHON_CLIENT = `
import sys, threading, socketio
url, condition = sys.argv[1:3]
client, done, lock = socketio.Client(), threading.Event(), threading.Lock()
def say(what, holds):
    with lock: print(what, holds, flush=True)
@client.on('orderbook:snapshot')
def snapshot(body): say('snapshot', body['conditionId'] == condition)
@client.on('orderbook:update')
def update(body):
    say('update', body['sequence'] > body['previousSequence'])
    done.set()
client.connect(url, transports=['websocket'])
say('ack', client.call('subscribe', {'conditionId': condition})['ok'])
if not done.wait(90): sys.exit('no update came')
client.disconnect()
`;

// Skipped only where the packages are not: apt-get install python3-socketio python3-websocket
const ifPython = python ? test : test.skip;
ifPython("Debian's python3-socketio and python3-websocket subscribe and receive", async () => {
  const child = ownChild(spawn(python ?? '', ['-c', PYTHON_CLIENT, replicas[1].url, market.conditionId]));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let code: number | null | undefined;
  void ended.then((value) => {
    code = value;
  });
  const isOver = async (): Promise<boolean> => {
    if (said.includes('snapshot')) await place(exchange, market);
    return code !== undefined;
  };
  await until('the Python client has ended', isOver, { pollMs: 100, explain: () => said });
  const lines = said.split('\n');
  expect([await ended, lines]).toEqual([
    0,
    expect.arrayContaining(['ack True', 'snapshot True', 'update True']),
  ]);
});

const upgrade = (query: string, more: readonly string[] = []): string =>
  [
    `GET /socket.io/?${query} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
    '',
    '',
  ].join('\r\n');

test.each([
  ['Engine.IO 3 over WebSocket', upgrade('EIO=3&transport=websocket')],
  ['Engine.IO 3 by polling', 'GET /socket.io/?EIO=3&transport=polling HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['Engine.IO 4 by polling', 'GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['no version at all', upgrade('')],
  ['another transport', upgrade('EIO=4&transport=webtransport')],
  ['a session of Engine.IO', upgrade('EIO=4&transport=websocket&sid=AAAAAAAAAAAAAAAAAAAA')],
  ['a query with two transports', upgrade('EIO=4&transport=websocket&transport=polling')],
  ['a handshake without a key', upgrade('EIO=4&transport=websocket').replace(/Sec-WebSocket-Key.*\r\n/, '')],
  [
    'a handshake with a malformed key',
    upgrade('EIO=4&transport=websocket').replace(/Sec-WebSocket-Key.*\r\n/, 'Sec-WebSocket-Key: x\r\n'),
  ],
  [
    'a handshake of an unknown version',
    upgrade('EIO=4&transport=websocket').replace(/(Sec-WebSocket-Version).*\r\n/, '$1: 99\r\n'),
  ],
  ['a POST', 'POST /socket.io/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'],
])('%s is refused with a problem', async (_what, request) => {
  const answer = await sendRaw(port(), request);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.parse(answer.text)).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    detail: expect.stringContaining('websocket'),
  });
});

test('only listed origins may connect from a browser', async () => {
  const guarded = await exchange.replica({ CORS_ORIGINS: 'https://good.example' });
  const at = (origin?: string) =>
    sendRaw(
      guarded.web.port,
      upgrade('EIO=4&transport=websocket', origin === undefined ? [] : [`Origin: ${origin}`]),
    );
  expect((await at('https://good.example')).status).toBe(101);
  expect((await at()).status).toBe(101);
  const refused = await at('https://evil.example');
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([403, 'FORBIDDEN']);
  await guarded.stop();
});

test('a request that offers another protocol is served as if it did not', async () => {
  const offer =
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n';
  const get = await sendRaw(port(), `GET /time HTTP/1.1\r\nHost: localhost\r\n${offer}\r\n`);
  expect(get.status).toBe(200);
  const body = JSON.stringify({ refreshToken: 'x' });
  const post = await sendRaw(
    port(),
    `POST /auth/refresh HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${offer}\r\n${body}`,
  );
  expect([post.status, JSON.parse(post.text).code]).toEqual([401, 'TOKEN_INVALID']);
});

test('stopping closes the sockets so that clients reconnect by themselves, and refuses new ones', async () => {
  const leaving = await exchange.replica();
  const one = await listen(leaving.url);
  const idle = new Manager(leaving.url, {
    transports: ['websocket'],
    autoConnect: false,
    reconnection: false,
  });
  await new Promise<void>((resolve) => idle.open(() => resolve()));
  await leaving.stop();
  // After "io server disconnect" a client would stay away.
  expect(one.ended()).toBe('transport close');
  idle.engine.close();
});
