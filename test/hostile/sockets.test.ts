import { io, type Socket } from 'socket.io-client';
import { startTwoTraders, type TwoTraders } from '../http/server/bad-input/two-traders';
import { ADMIN_TOKEN } from '../support/settings';
import { shown } from './row';

/** The same through sockets: a refusal names its reason, and the socket stays open. */
let traders: TwoTraders;
let socket: Socket;
let conditionId: string;
beforeAll(async () => {
  traders = await startTwoTraders();
  conditionId = (await traders.exchange.client.get(`/markets/${traders.market.id}`)).body.conditionId;
  socket = await opened();
});
afterAll(async () => {
  socket.disconnect();
  await traders.stop();
});

const connected = (auth: Record<string, unknown> = {}): Socket =>
  io(traders.exchange.client.url, { transports: ['websocket'], reconnection: false, forceNew: true, auth });

function opened(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fresh = connected();
    fresh.on('connect', () => resolve(fresh));
    fresh.on('connect_error', reject);
  });
}

/** The patience of a request on a busy machine. */
const PATIENCE_MS = 60_000;

const HASH = `0x${'ab'.repeat(32)}`;
const NOTHING = [undefined, null, true, 0, -1, 1.5, '', ' ', [], {}, [[]], 'x'.repeat(10_000)];
const IDS = [
  '0x',
  'g'.repeat(66),
  `0x${'ab'.repeat(31)}`,
  `0x${'ab'.repeat(33)}`,
  `${HASH}\u0000`,
  ` ${HASH}`,
  '{x0}:o',
  '*',
  '__proto__',
];
const MESSAGES: unknown[] = [
  ...NOTHING,
  ...IDS,
  ...[...NOTHING.slice(1), ...IDS].map((id) => ({ conditionId: id })),
  ...[...NOTHING.slice(1, 9), ...IDS].map((id) => ({ conditionIds: [id] })),
  { conditionIds: [] },
  { conditionIds: Array.from({ length: 51 }, () => HASH) },
  { conditionIds: { length: 1, 0: HASH } },
  { conditionId: HASH, conditionIds: [HASH] },
  { conditionIds: [HASH], lastSequence: 1 },
  ...[null, '1', -1, 1.5, 2 ** 60, [], {}].map((lastSequence) => ({ conditionId: HASH, lastSequence })),
  { conditionId: HASH, other: 1 },
  JSON.parse(`{"conditionId":"${HASH}","__proto__":{"x":1}}`),
  JSON.parse(`{"conditionId":"${HASH}","constructor":1}`),
];

test.each(['subscribe', 'unsubscribe'])(
  '%s of nonsense is refused, and nothing is followed',
  async (event) => {
    for (const message of MESSAGES) {
      const [answer] = [await socket.timeout(PATIENCE_MS).emitWithAck(event, message)];
      expect([shown(message), answer.ok]).toEqual([shown(message), false]);
      expect(['INVALID_REQUEST', 'MARKET_NOT_FOUND']).toContain(answer.error.code);
      expect(JSON.stringify(answer)).not.toMatch(/\n\s+at |node_modules|\{x0\}:m/);
    }
    const unknown = await socket.timeout(PATIENCE_MS).emitWithAck(event, { conditionId: HASH });
    expect(unknown.error.code).toBe('MARKET_NOT_FOUND');
    const known = await socket.timeout(PATIENCE_MS).emitWithAck(event, { conditionId });
    expect(known.ok).toBe(true);
  },
);

test('unknown events, and events without an acknowledgement, change nothing', async () => {
  for (const event of [
    'orderbook:update',
    'join',
    '__proto__',
    'toString',
    '',
    'message',
    'x'.repeat(5_000),
  ]) {
    socket.emit(event, { conditionId });
  }
  socket.emit('subscribe', null);
  expect((await socket.timeout(PATIENCE_MS).emitWithAck('subscribe', { conditionId })).ok).toBe(true);
});

test.each([
  [{ token: 'x' }, 'TOKEN_INVALID'],
  [{ token: '' }, 'TOKEN_INVALID'],
  [{ token: 7 }, 'TOKEN_INVALID'],
  [{ token: {} }, 'TOKEN_INVALID'],
  [{ token: ['x'] }, 'TOKEN_INVALID'],
  [{ token: true }, 'TOKEN_INVALID'],
  [{ token: 'a.b.c' }, 'TOKEN_INVALID'],
  [{ token: ADMIN_TOKEN }, 'TOKEN_INVALID'],
  [{ token: 'eyJhbGciOiJub25lIn0.e30.' }, 'TOKEN_INVALID'],
  [{ token: 'x'.repeat(9_000) }, 'TOKEN_INVALID'],
  [{ cancelOnDisconnect: true }, 'UNAUTHORIZED'],
  [{ cancelOnDisconnect: 'yes' }, 'INVALID_REQUEST'],
  [{ cancelOnDisconnect: {} }, 'INVALID_REQUEST'],
  [{ accountEvents: 'no' }, 'INVALID_REQUEST'],
  [{ accountEvents: null }, 'INVALID_REQUEST'],
  [{ accountEvents: false, lastAccountSequence: 1 }, 'INVALID_REQUEST'],
  [{ accountEvents: false, lastAccountSequence: null }, 'INVALID_REQUEST'],
])('a handshake with %j is refused', async (auth, code) => {
  const refused = connected(auth);
  const error = await new Promise<Error & { data?: { code: string } }>((resolve, reject) => {
    refused.on('connect_error', resolve);
    refused.on('connect', () => reject(new Error('connected')));
  });
  refused.disconnect();
  expect(error.data?.code).toBe(code);
});

test('the messages were many, and no bug was logged', () => {
  expect(MESSAGES.length).toBeGreaterThan(60);
  expect(traders.exchange.logged.join('\n')).not.toContain('INTERNAL');
});
