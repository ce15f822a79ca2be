import { get } from 'node:http';
import type { Socket } from 'socket.io-client';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { ask, closeAll, connect, goneWithin, many, newAddress, refusal, wireOf } from './address-sockets';

/** All sockets of one address share their points at a process, however often they are opened. */
const MARKETS = 50;
let exchange: WebReplicas;
let web: Replica;
let conditionIds: string[];

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
afterEach(closeAll);
afterAll(() => exchange.stop());

async function secondsOf(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return (performance.now() - startedAt) / 1_000;
}

/** Enough for a debt that lasts while a slow machine works. */
const CUT = 30;

async function cutOf(address: string): Promise<void> {
  const sockets = await many(CUT, web, address);
  const gone = sockets.map((socket) => goneWithin(socket, 10_000));
  for (const socket of sockets) for (let i = 0; i < 200; i++) socket.emit('rain');
  expect(await Promise.all(gone)).toEqual(sockets.map(() => true));
}

test('a hundred sockets of one address that follow fifty markets each at once are not slowed down', async () => {
  const address = newAddress();
  const sockets = await many(100, web, address);
  const answers = await Promise.all(sockets.map((socket) => ask(socket, 'subscribe', { conditionIds })));
  expect(answers.filter(({ ok }) => !ok)).toEqual([]);
  expect(sockets.filter(({ connected }) => !connected)).toEqual([]);
});

test('an address whose sockets were cut waits before it may open another, and others do not', async () => {
  const address = newAddress();
  await cutOf(address);
  const refused = await refusal(web, address);
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED', scope: 'sockets' });
  expect(Number(refused.retryAfter)).toBeGreaterThan(1);
  // An address that comes back at once waits for its refusal.
  expect(await secondsOf(() => refusal(web, address))).toBeGreaterThan(0.9);
  const others = connect(web, newAddress()).then(() => 'connected');
  expect(await Promise.race([others, refusal(web, address)])).toBe('connected');
  await until('the debt is paid', () => connect(web, address).then(Boolean, () => false), {
    patienceMs: 10_000,
  });
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
  await sleep(1_200);
  expect((await web.client.get('/livez')).status).toBe(200);
});

test('the sockets of an address in debt are read later, nothing is refused, and others are not affected', async () => {
  const address = newAddress();
  const [calm, other] = [await connect(web, address), await connect(web, newAddress())];
  const subscribe = (socket: Socket) => async () =>
    expect(await ask(socket, 'subscribe', conditionIds[0])).toMatchObject({ ok: true });
  await cutOf(address);
  // Messages that had arrived by then are served.
  await subscribe(calm)();
  const own = secondsOf(subscribe(calm));
  expect(await secondsOf(subscribe(other))).toBeLessThan(await own);
  expect(await own).toBeGreaterThan(1);
  expect(calm.connected).toBe(true);
});

/** A text frame that goes on, then pieces of it without content; masked, as a client's are. */
const begun = Buffer.from([0x01, 0x80, 0, 0, 0, 0]);
const empty = Buffer.from([0x00, 0x80, 0, 0, 0, 0]);

test('a socket that sends frames without content is cut, though it never sends a message', async () => {
  const socket = await connect(web, newAddress());
  const gone = goneWithin(socket, 10_000);
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
  const poll = (from: string) => async () => {
    const headers = { 'x-forwarded-for': from };
    const { status } = await web.client.get('/socket.io/?EIO=4&transport=polling', { headers });
    expect(status).toBe(400);
  };
  await cutOf(address);
  const own = secondsOf(poll(address));
  expect(await secondsOf(poll(newAddress()))).toBeLessThan(await own);
  expect(await own).toBeGreaterThan(0.9);
});
