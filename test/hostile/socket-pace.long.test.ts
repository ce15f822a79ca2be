import { get } from 'node:http';
import type { Socket } from 'socket.io-client';
import { type StoppedClock, stopClock } from '../support/stopped-clock';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { ask, closeAll, connect, goneWithin, many, newAddress, refusal, wireOf } from './address-sockets';

/** The points that all sockets of one address share at a process, however often they are opened; their clock is stopped. */
const MARKETS = 50;
let exchange: WebReplicas;
let web: Replica;
let conditionIds: string[];
let clock: StoppedClock;

beforeAll(async () => {
  exchange = await startWebReplicas({
    replicas: 0,
    durable: true,
    env: { RATE_LIMIT: 'on', TRUST_PROXY: '1', BROADCAST_INTERVAL_MS: '0' },
  });
  web = await exchange.replica();
  conditionIds = [];
  for (let i = 0; i < MARKETS; i++) conditionIds.push((await exchange.market(web)).conditionId);
});
beforeEach(() => {
  clock = stopClock();
});
afterEach(() => {
  clock.release();
  closeAll();
});
afterAll(() => exchange.stop());

/** Far more than the burst pays for: the address owes as much as it can, what comes back in 5 s. */
const CUT = 30;
const OWED_SEC = 5;
/** The longest wait of a new socket for its turn. */
const HOLD_MS = 1_000;
/** The patience of a test on a busy machine. */
const PATIENCE_MS = 100_000;
jest.setTimeout(2 * PATIENCE_MS);

/** A text frame of a client, masked with zeros. */
const frame = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
/** In one piece, which the exchange reads as a whole. */
const FLOOD = Buffer.alloc(200 * frame('42["rain"]').length, frame('42["rain"]'));

async function cutOf(address: string): Promise<void> {
  const sockets = await many(CUT, web, address);
  const gone = sockets.map((socket) => goneWithin(socket, PATIENCE_MS));
  for (const socket of sockets) wireOf(socket)._socket.write(FLOOD);
  expect(await Promise.all(gone)).toEqual(sockets.map(() => true));
}

/** Whether it has come to its end. */
function watch(doing: Promise<unknown>): { ended: boolean } {
  const state = { ended: false };
  void doing.finally(() => {
    state.ended = true;
  });
  return state;
}

test('a hundred sockets of one address that follow fifty markets each at once are not slowed down', async () => {
  const address = newAddress();
  const sockets = await many(100, web, address);
  // On a busy machine Redis may be late with a few of five thousand reads; these ask again.
  const follow = (socket: Socket): Promise<void> =>
    until('it follows the markets', async () => {
      const { ok, error } = await ask(socket, 'subscribe', { conditionIds });
      expect([undefined, 'UNAVAILABLE']).toContain(error?.code);
      return ok;
    });
  await Promise.all(sockets.map(follow));
  expect(sockets.filter(({ connected }) => !connected)).toEqual([]);
});

test('an address whose sockets were cut waits before it may open another, and others do not', async () => {
  const address = newAddress();
  await cutOf(address);
  const refused = refusal(web, address);
  const waiting = watch(refused);
  await connect(web, newAddress());
  expect(waiting.ended).toBe(false);
  clock.forward(HOLD_MS);
  const { retryAfter, ...answer } = await refused;
  expect(answer).toEqual({ status: 429, code: 'RATE_LIMITED', scope: 'sockets' });
  // One second is paid. The exchange may read the last bytes of the cut sockets after that, and they cost a part of the next one.
  expect([OWED_SEC - HOLD_MS / 1_000, OWED_SEC]).toContain(Number(retryAfter));
  clock.forward(2 * OWED_SEC * 1_000);
  await connect(web, address);
});

test('an address that waits for its refusal may disconnect', async () => {
  const address = newAddress();
  await cutOf(address);
  const leaving = get(`${web.url}/socket.io/?EIO=4&transport=websocket`, {
    headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'X-Forwarded-For': address },
  });
  leaving.on('error', () => undefined);
  await sleep(100);
  leaving.socket?.resetAndDestroy();
  clock.forward(HOLD_MS);
  await sleep(HOLD_MS + 200);
  expect((await web.client.get('/livez')).status).toBe(200);
});

test('the sockets of an address in debt are read later, nothing is refused, and others are not affected', async () => {
  const address = newAddress();
  const [calm, other] = [await connect(web, address), await connect(web, newAddress())];
  // Redis may be late on a busy machine; a message that is not served has no answer.
  const subscribe = async (socket: Socket) => {
    const { error } = await ask(socket, 'subscribe', conditionIds[0]);
    expect([undefined, 'UNAVAILABLE']).toContain(error?.code);
  };
  await cutOf(address);
  // Messages that had arrived by then are served.
  await subscribe(calm);
  const own = subscribe(calm);
  const waiting = watch(own);
  for (let i = 0; i < 10; i++) await subscribe(other);
  expect(waiting.ended).toBe(false);
  // More than it owes, because reading the rest of what was sent costs points, too.
  clock.forward(2 * OWED_SEC * 1_000);
  await own;
  expect(calm.connected).toBe(true);
});

/** A text frame that goes on, then pieces of it without content; masked, as a client's are. */
const begun = Buffer.from([0x01, 0x80, 0, 0, 0, 0]);
const empty = Buffer.from([0x00, 0x80, 0, 0, 0, 0]);

test('a socket that sends frames without content is cut, though it never sends a message', async () => {
  const socket = await connect(web, newAddress());
  const gone = goneWithin(socket, PATIENCE_MS);
  wireOf(socket)._socket.write(begun);
  for (let i = 0; i < 30; i++) {
    wireOf(socket)._socket.write(Buffer.alloc(600 * empty.length, empty));
    await sleep(10);
  }
  expect(await gone).toBe(true);
});

test('a message in many pieces is accepted', async () => {
  const socket = await connect(web, newAddress());
  const answer = new Promise((resolve) => socket.io.engine.on('data', resolve));
  const text = Buffer.from(`421["subscribe","${'x'.repeat(2_000)}"]`);
  wireOf(socket)._socket.write(begun);
  for (const byte of text) wireOf(socket)._socket.write(Buffer.from([0x00, 0x81, 0, 0, 0, 0, byte]));
  wireOf(socket)._socket.write(Buffer.from([0x80, 0x80, 0, 0, 0, 0]));
  expect(await answer).toContain('INVALID_REQUEST');
});

test('a request for long polling waits as long as a socket of its address, and one of another address does not', async () => {
  const address = newAddress();
  const poll = async (from: string) => {
    const headers = { 'x-forwarded-for': from };
    const { status } = await web.client.get('/socket.io/?EIO=4&transport=polling', { headers });
    expect(status).toBe(400);
  };
  await cutOf(address);
  const own = poll(address);
  const waiting = watch(own);
  for (let i = 0; i < 10; i++) await poll(newAddress());
  expect(waiting.ended).toBe(false);
  clock.forward(HOLD_MS);
  await own;
});
