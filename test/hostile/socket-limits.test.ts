import type { Socket } from 'socket.io-client';
import { place } from '../support/engine-order';
import type { OpenMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { ask, closeAll, connect, goneWithin, many, newAddress, refusal, wireOf } from './address-sockets';

/** The effect of one address, and of one socket, on the others. */
let exchange: WebReplicas;
let first: Replica;
let second: Replica;
let market: OpenMarket;

beforeAll(async () => {
  exchange = await startWebReplicas({
    replicas: 0,
    durable: true,
    env: { RATE_LIMIT: 'on', TRUST_PROXY: '1', BROADCAST_INTERVAL_MS: '0' },
  });
  [first, second] = [await exchange.replica(), await exchange.replica()];
  market = await exchange.market(first);
});
afterEach(closeAll);
afterAll(() => exchange.stop());

const TOO_MANY = { status: 429, code: 'RATE_LIMITED', scope: 'sockets', retryAfter: '1' };
const isRefused = async (at: Replica, address: string): Promise<boolean> =>
  refusal(at, address).then(
    () => true,
    () => false,
  );

test('an address has 100 sockets at both replicas together, others are not affected, and a closed socket frees a place', async () => {
  const address = newAddress();
  const [one] = await many(60, first, address);
  await sleep(200);
  await many(40, second, address);
  await until('both know', async () => (await isRefused(first, address)) && isRefused(second, address));
  expect(await refusal(first, address)).toEqual(TOO_MANY);
  expect(await refusal(second, address)).toEqual(TOO_MANY);
  await connect(first, newAddress());
  one?.disconnect();
  await until('there is place', () =>
    connect(second, address).then(
      () => true,
      () => false,
    ),
  );
});

test('the sockets of an address are counted while Redis is away', async () => {
  const address = newAddress();
  const away = exchange.restartRedis(1_000);
  await sleep(200);
  await many(100, second, address);
  expect(await refusal(second, address)).toEqual(TOO_MANY);
  await away;
});

/** So many that a slow machine does not spread them over the seconds in which they would be allowed. */
const MANY = 1_000;
/** The patience of a test on a busy machine. */
const PATIENCE_MS = 60_000;
jest.setTimeout(2 * PATIENCE_MS);

test.concurrent.each<[string, (socket: Socket) => void]>([
  ['events that do not exist', (socket) => socket.emit('rain')],
  ['acknowledgements nobody waits for', (socket) => wireOf(socket).send('431[]')],
  ['packets of Engine.IO', (socket) => wireOf(socket).send('3')],
  ['pings', (socket) => wireOf(socket).ping()],
  ['pongs', (socket) => wireOf(socket).pong()],
  ['lists in lists', (socket) => wireOf(socket).send(`42["rain",${'['.repeat(500)}${']'.repeat(500)}]`)],
])('a socket that sends 50 a second lives, one that sends far more is cut: %s', async (_what, send) => {
  const [calm, wild] = (await many(2, first, newAddress())) as [Socket, Socket];
  for (let i = 0; i < 49; i++) send(calm);
  for (let i = 0; i < MANY; i++) send(wild);
  expect(await goneWithin(wild, PATIENCE_MS)).toBe(true);
  expect(calm.connected).toBe(true);
});

test('64 kB a second are read of a socket whatever it sends, and the rest is answered without being read', async () => {
  const socket = await connect(first, newAddress());
  const nested = `${'['.repeat(7_500)}${']'.repeat(7_500)}`;
  const heard: string[] = [];
  socket.io.engine.on('data', (data: string) => heard.push(data));
  // Four fit into the first second.
  for (let i = 1; i <= 40; i++) wireOf(socket).send(`42${i}["subscribe",${nested}]`);
  await until('all are answered', () => heard.length >= 40);
  const codes = heard.map((data) => /"code":"(\w+)"/.exec(data)?.[1]);
  expect(codes.filter((code) => code === 'INVALID_REQUEST').length).toBeGreaterThanOrEqual(4);
  expect(codes).toContain('RATE_LIMITED');
  expect(socket.connected).toBe(true);
});

test.each(['subscribe', 'unsubscribe'])(
  'a message to %s counts as one for each market it names',
  async (event) => {
    const socket = await connect(first, newAddress());
    const conditionIds = Array.from({ length: 50 }, (_, i) => `0x${i.toString(16).padStart(64, '0')}`);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(socket, event, { conditionIds })));
    const codes = answers.map(({ error }) => error.code);
    expect(codes[0]).toBe('MARKET_NOT_FOUND');
    // Ten are far fewer than the fifty of a second.
    expect(codes).toContain('RATE_LIMITED');
    await until('its second is over', async () => (await ask(socket, 'subscribe', market.conditionId)).ok);
  },
);

test('a socket that follows a market is sent each snapshot once, and one that comes back pays for it', async () => {
  const socket = await connect(first, newAddress());
  const snapshots: number[] = [];
  socket.on('orderbook:snapshot', ({ sequence }) => snapshots.push(sequence));
  const subscribe = async () => (await ask(socket, 'subscribe', market.conditionId)).subscribed?.[0].sequence;
  const sequence = await subscribe();
  for (let i = 0; i < 10; i++) expect(await subscribe()).toBe(sequence);
  expect(snapshots).toEqual([sequence]);
  await ask(socket, 'unsubscribe', market.conditionId);
  await subscribe();
  expect(snapshots).toEqual([sequence, sequence]);
  await place(exchange, market);
  await until('the market has moved', async () => ((await subscribe()) ?? sequence) > sequence);
  expect(snapshots).toEqual([sequence, sequence, sequence + 1]);
  const again = Array.from({ length: 20 }, () => {
    socket.emit('unsubscribe', market.conditionId);
    return ask(socket, 'subscribe', market.conditionId);
  });
  expect((await Promise.all(again)).some(({ ok }) => !ok)).toBe(true);
});

test('a snapshot is serialised once, however many sockets are sent it', async () => {
  await place(exchange, market);
  const sockets = await many(50, second, newAddress());
  const stringify = jest.spyOn(JSON, 'stringify');
  const heard = sockets.map((socket) => new Promise((resolve) => socket.once('orderbook:snapshot', resolve)));
  await Promise.all(sockets.map((socket) => ask(socket, 'subscribe', market.conditionId)));
  const bodies = (await Promise.all(heard)) as { sequence: number }[];
  const written = stringify.mock.calls.filter(
    ([value]) => Array.isArray(value) && value[0] === 'orderbook:snapshot',
  );
  stringify.mockRestore();
  expect(new Set(bodies.map(({ sequence }) => sequence)).size).toBe(1);
  expect(written).toHaveLength(1);
});

test('a replay from long ago counts for what it sends', async () => {
  for (let i = 0; i < 70; i++) {
    await Promise.all(Array.from({ length: 10 }, (_, n) => place(exchange, market, { pips: 1_000 + n })));
  }
  const socket = await connect(second, newAddress());
  let updates = 0;
  socket.on('orderbook:update', () => updates++);
  const { sequence } = (await first.client.get(`/markets/${market.id}/orderbook`)).body;
  expect(sequence).toBeGreaterThan(700);
  const log = exchange.store.keys.updates(market.id);
  await until('all of it was broadcast', async () => {
    const [[last] = ['']] = await exchange.store.redis.xrevrange(log, '+', '-', 'COUNT', 1);
    return last === `${sequence}-0`;
  });
  const replay = { conditionId: market.conditionId, lastSequence: 5 };
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(socket, 'subscribe', replay)));
  expect(answers[0].ok).toBe(true);
  expect(answers.some(({ ok }) => !ok)).toBe(true);
  await until('it was replayed', () => updates >= 600);
});
