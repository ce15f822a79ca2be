import { Redis } from 'ioredis';
import { io, type Socket } from 'socket.io-client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { until } from '../../support/waiting';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;
let market: Market;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  domain = await domainOf(exchange.client);
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  alice = createTrader(exchange.client, domain);
});
afterAll(() => exchange.stop());

const at = (replica: number) => {
  const found = exchange.replicas[replica];
  if (!found) throw new Error('no such replica');
  return found.client;
};
const make = async (scopes: string[], more = {}, trader = alice) => {
  const { status, body } = await trader.post('/me/keys', { name: 'a bot', scopes, ...more });
  expect([status, body.code]).toEqual([201, undefined]);
  return body as { id: string; key: string; createdAt: string };
};
const codeOf = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
  const { status, body } = await answer;
  return `${status} ${body?.code ?? 'ok'}`;
};

test('a key is shown once, and listed without its text', async () => {
  const expiresAt = '2031-01-01T00:00:00.000Z';
  const made = (await alice.post('/me/keys', { name: 'once', scopes: ['read'], expiresAt })).body;
  const { key, ...rest } = made;
  expect(rest).toEqual({
    id: expect.any(String),
    name: 'once',
    scopes: ['read'],
    createdAt: expect.any(String),
    expiresAt,
  });
  expect((await alice.get('/me/keys')).body.data).toContainEqual(rest);
  expect(JSON.stringify((await alice.get('/me/keys')).body)).not.toContain(key);
  const redis = new Redis(exchange.redis.url);
  for (const name of await redis.keys('{k:*'))
    expect(JSON.stringify(await redis.hgetall(name))).not.toContain(key);
  redis.disconnect();
});

test('a key replaces an access token where its scopes allow, on every replica, and nowhere else', async () => {
  const [read, cancel] = [(await make(['read'])).key, (await make(['cancel'])).key];
  const { orderHash } = (await alice.submit(market, limit('BUY', 0, 1_000, 100))).body;
  for (const path of [
    '/me',
    '/me/orders',
    '/me/balances',
    '/me/trades',
    '/me/keys',
    `/orders/${orderHash}`,
  ]) {
    expect(await codeOf(at(1).get(path, { token: read }))).toBe('200 ok');
    expect(await codeOf(at(1).get(path, { token: cancel }))).toBe('403 FORBIDDEN');
  }
  expect((await at(1).get(`/orders/${orderHash}`, { token: read })).body.order.maker).toBe(alice.address);
  expect((await at(1).get('/me', { token: read })).body.session.expiresAt).toBeNull();
  const cancelling = `/orders/${orderHash}/cancel`;
  expect(await codeOf(at(1).post(cancelling, { token: read }))).toBe('403 FORBIDDEN');
  expect(await codeOf(at(1).post(cancelling, { token: cancel }))).toBe('200 ok');
  expect(await codeOf(at(1).post('/me/orders/cancel-all', { token: cancel }))).toBe('200 ok');
});

test('no key creates or deletes keys, signs out, moves money or writes for the wallet', async () => {
  const { id, key } = await make(['read', 'cancel']);
  const body = { name: 'another', scopes: ['read'] };
  const forbidden = [
    ['POST', '/me/keys', body],
    ['DELETE', `/me/keys/${id}`],
    ['POST', '/auth/logout'],
    ['POST', '/me/faucet'],
    ['POST', '/me/nonce'],
    ['POST', `/markets/${market.id}/split`, { size: '1' }],
    ['POST', `/markets/${market.id}/comments`, { body: 'hello' }],
    ['PATCH', '/me/profile', { bio: 'mine' }],
  ] as const;
  for (const [method, path, sent] of forbidden) {
    const answer = at(0).call(method, path, { token: key, ...(sent ? { body: sent } : {}) });
    expect([path, await codeOf(answer)]).toEqual([path, '403 FORBIDDEN']);
  }
});

test('a deleted key is refused everywhere at once, and its sockets end on every replica', async () => {
  const { id, key } = await make(['read']);
  const ended: unknown[] = [];
  const sockets = await Promise.all(
    [0, 1].map(async (replica): Promise<Socket> => {
      const socket = io(at(replica).url, { transports: ['websocket'], forceNew: true, auth: { token: key } });
      socket.on('session:ended', (body) => ended.push(body));
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('connect_error', reject);
      });
      return socket;
    }),
  );
  expect((await alice.send('DELETE', `/me/keys/${id}`)).status).toBe(204);
  expect(await codeOf(at(1).get('/me', { token: key }))).toBe('401 TOKEN_INVALID');
  await until('both sockets ended', () => ended.length === 2 && sockets.every(({ connected }) => !connected));
  expect(await codeOf(alice.send('DELETE', `/me/keys/${id}`))).toBe('404 NOT_FOUND');
});

test('a socket needs the scope read, and cancelOnDisconnect the scope cancel as well', async () => {
  const connect = async (key: string, more = {}): Promise<string> => {
    const auth = { token: key, ...more };
    const socket = io(at(0).url, { transports: ['websocket'], forceNew: true, reconnection: false, auth });
    const outcome = await new Promise<string>((resolve) => {
      socket.once('connect', () => resolve('connected'));
      socket.once('connect_error', ({ message }) => resolve(message));
    });
    socket.disconnect();
    return outcome;
  };
  const [read, cancel, both] = await Promise.all([
    make(['read']),
    make(['cancel']),
    make(['read', 'cancel']),
  ]);
  expect(await connect(read.key)).toBe('connected');
  expect(await connect(cancel.key)).toBe('FORBIDDEN');
  expect(await connect(read.key, { cancelOnDisconnect: true })).toBe('FORBIDDEN');
  expect(await connect(both.key, { cancelOnDisconnect: true })).toBe('connected');
});

/** Enough to connect in on a busy machine. */
const LIFE_MS = 6_000;

test.concurrent('a key ends at its time, and so does its socket', async () => {
  const { key } = await make(['read'], { expiresAt: new Date(Date.now() + LIFE_MS).toISOString() });
  expect(await codeOf(at(0).get('/me', { token: key }))).toBe('200 ok');
  const socket = io(at(0).url, { transports: ['websocket'], forceNew: true, auth: { token: key } });
  const why = await new Promise((resolve) => socket.once('session:ended', resolve));
  expect(why).toMatchObject({ code: 'TOKEN_EXPIRED' });
  expect(await codeOf(at(0).get('/me', { token: key }))).toBe('401 TOKEN_EXPIRED');
});

test('a malformed key is refused like a wrong token', async () => {
  const { key } = await make(['read']);
  const other = createTrader(exchange.client, domain);
  const theirs = (await make(['read'], {}, other)).key;
  const last = key.endsWith('A') ? 'B' : 'A';
  for (const wrong of [
    key.slice(0, -1),
    `${key}A`,
    `${key.slice(0, -1)}${last}`,
    `${theirs.slice(0, 44)}${key.slice(44)}`,
  ]) {
    expect(await codeOf(at(0).get('/me', { token: wrong }))).toBe('401 TOKEN_INVALID');
  }
});

test.concurrent('a wallet has at most 20 keys, even if many are requested at once, and expired ones make room', async () => {
  const carla = createTrader(exchange.client, domain);
  await carla.get('/me/keys');
  const expiresMs = Date.now() + 5_000;
  await make(['read'], { expiresAt: new Date(expiresMs).toISOString() }, carla);
  const ask = () => carla.post('/me/keys', { name: 'one of many', scopes: ['cancel'] });
  const first = await Promise.all(Array.from({ length: 25 }, ask));
  await new Promise((resolve) => setTimeout(resolve, expiresMs + 100 - Date.now()));
  const statuses = [...first, ...(await Promise.all(Array.from({ length: 5 }, ask)))].map(
    ({ status }) => status,
  );
  expect(statuses.filter((status) => status === 201)).toHaveLength(20);
  expect((await carla.get('/me/keys')).body.data).toHaveLength(20);
});

test.each([
  [{ name: 'x', scopes: [] }, 'scopes'],
  [{ name: 'x', scopes: ['read', 'read'] }, 'scopes.1'],
  [{ name: 'x', scopes: ['trade'] }, 'scopes.0'],
  [{ name: '', scopes: ['read'] }, 'name'],
  [{ scopes: ['read'] }, 'name'],
  [{ name: 'x', scopes: ['read'], expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt'],
  [{ name: 'x', scopes: ['read'], expiresAt: 'soon' }, 'expiresAt'],
  [{ name: 'x', scopes: ['read'], expiresAt: '2032-02-30T00:00:00Z' }, 'expiresAt'],
  [{ name: 'x', scopes: ['read'], expiresAt: '2031-04-31' }, 'expiresAt'],
])('%j is refused by name', async (body, path) => {
  const answer = await alice.post('/me/keys', body);
  expect([answer.status, answer.body.code, answer.body.errors[0].path]).toEqual([
    400,
    'INVALID_REQUEST',
    path,
  ]);
});
