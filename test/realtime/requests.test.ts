import { io, Manager } from 'socket.io-client';
import { place } from '../support/engine-order';
import { type Listener, listen } from '../support/listener';
import type { OpenMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

let exchange: WebReplicas;
let replica: Replica;
let market: OpenMarket;
const open: { close(): void }[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true, env: { RATE_LIMIT: 'off' } });
  replica = await exchange.replica();
  market = await exchange.market(replica);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

async function listener(at: Replica = replica): Promise<Listener> {
  const one = await listen(at.url);
  open.push(one);
  return one;
}
const nobody = `0x${'0'.repeat(64)}`;

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'INVALID_REQUEST'],
  ['null', null, 'INVALID_REQUEST'],
  ['a number', 7, 'INVALID_REQUEST'],
  ['a list', [nobody], 'INVALID_REQUEST'],
  ['an empty object', {}, 'INVALID_REQUEST'],
  ['no hash', 'rain', 'INVALID_REQUEST'],
  ['an empty list', { conditionIds: [] }, 'INVALID_REQUEST'],
  ['51 markets', { conditionIds: Array.from({ length: 51 }, () => nobody) }, 'INVALID_REQUEST'],
  ['both names', { conditionId: nobody, conditionIds: [nobody] }, 'INVALID_REQUEST'],
  ['an unknown member', { conditionId: nobody, depth: 5 }, 'INVALID_REQUEST'],
  ['a sequence that is none', { conditionId: nobody, lastSequence: -1 }, 'INVALID_REQUEST'],
  ['a sequence as text', { conditionId: nobody, lastSequence: '5' }, 'INVALID_REQUEST'],
  ['a huge sequence', { conditionId: nobody, lastSequence: 1e300 }, 'INVALID_REQUEST'],
  ['what is no epoch', { conditionId: nobody, epoch: 'yesterday' }, 'INVALID_REQUEST'],
  ['an epoch of two markets', { conditionIds: ['known', nobody], epoch: '0'.repeat(16) }, 'INVALID_REQUEST'],
  ['an object for a hash', { conditionId: { toString: 1 } }, 'INVALID_REQUEST'],
  ['__proto__', JSON.parse('{"__proto__":{"conditionId":"x"}}'), 'INVALID_REQUEST'],
  ['__proto__ beside a market', JSON.parse('{"conditionId":"known","__proto__":{}}'), 'INVALID_REQUEST'],
  ['an unknown market', nobody, 'MARKET_NOT_FOUND'],
  ['an unknown market among others', { conditionIds: ['known', nobody] }, 'MARKET_NOT_FOUND'],
])('%s is refused and told why', async (_what, message, code) => {
  const one = await listener();
  const sent = JSON.parse(JSON.stringify(message ?? null)?.replace('known', market.conditionId));
  const ack = await (message === undefined ? one.ask('subscribe') : one.ask('subscribe', sent));
  expect(ack).toEqual({ ok: false, error: { code, detail: expect.stringMatching(/\w/) } });
  expect(await one.ask('unsubscribe', sent)).toMatchObject({ ok: false, error: { code } });
  // None of it was executed, and the socket works as before.
  await place(exchange, market);
  await sleep(100);
  expect(one.told).toEqual([]);
  expect(await one.ask('subscribe', market.conditionId.toUpperCase().replace('0X', '0x'))).toMatchObject({
    ok: true,
  });
});

test('messages without an acknowledgement, with too many arguments or with other names have no effect', async () => {
  const one = await listener();
  one.socket.emit('subscribe');
  one.socket.emit('subscribe', { conditionId: 1 });
  one.socket.emit('subscribe', market.conditionId, 'more', { and: 'more' });
  one.socket.emit('constructor', 1);
  one.socket.emit('toString');
  one.socket.emit('feed', [{ kind: 'reset', marketId: market.id }]);
  one.socket.emit('subscribe', Buffer.from('binary'));
  await one.heard('orderbook:snapshot');
  expect(one.socket.connected).toBe(true);
});

test('an unknown event is answered, with the names of those that there are', async () => {
  const { engine } = (await listener()).socket.io;
  const heard: string[] = [];
  engine.on('message', (message: unknown) => heard.push(String(message)));
  engine.write('27000["order:sumbit",{}]');
  engine.write('27001["constructor"]');
  const detail =
    'no such message; the exchange takes subscribe, unsubscribe, renew, order:submit, order:cancel, order:replace, orders:submit, orders:cancel';
  for (const number of [7000, 7001])
    await until(`${number} is answered`, () =>
      heard.includes(`3${number}[{"ok":false,"error":{"code":"INVALID_REQUEST","detail":"${detail}"}}]`),
    );
});

/** Packets that no client of the exchange sends. */
const CORPUS = [
  '',
  '4',
  '9',
  '40',
  '40{',
  '40[]',
  '40/admin,',
  '40{"token":1}',
  '42',
  '42[',
  '42[]',
  '42{}',
  '42[null]',
  '42[1]',
  '42["subscribe"',
  '42["connect"]',
  '42["disconnect",1]',
  '42["__proto__",{}]',
  `42999999999999999999["subscribe","${nobody}"]`,
  '421.5["subscribe"]',
  '43["x"]',
  '431[]',
  '45',
  '451-["subscribe",{"_placeholder":true,"num":0}]',
  '45999999-["subscribe",{"_placeholder":true,"num":0}]',
  '451-["subscribe",{"_placeholder":true,"num":-1}]',
  '46',
  '3',
  '5',
  '6',
  `42["subscribe",${'['.repeat(4_000)}${']'.repeat(4_000)}]`,
  `42["subscribe","${'x'.repeat(10_000)}"]`,
  `42["${'x'.repeat(20_000)}"]`,
  '\u0000\uffff',
];

test('a malformed packet costs its own connection at most', async () => {
  const witness = await listener();
  await witness.ask('subscribe', market.conditionId);
  for (const first of ['', '40']) {
    await Promise.all(
      [...CORPUS, Buffer.from([1, 2, 3]), Buffer.alloc(20_000)].map(async (packet) => {
        const manager = new Manager(replica.url, {
          transports: ['websocket'],
          autoConnect: false,
          reconnection: false,
        });
        await new Promise<void>((resolve) => manager.open(() => resolve()));
        const { ws } = manager.engine.transport as unknown as { ws: { send(data: string | Buffer): void } };
        if (first) ws.send(first);
        await sleep(20);
        ws.send(packet);
        await sleep(60);
        manager.engine.close();
      }),
    );
  }
  const seen = witness.all('orderbook:update').length;
  await place(exchange, market);
  await witness.heard('orderbook:update', seen + 1);
  expect(exchange.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});

test('a message of more than 16 kB ends the connection', async () => {
  const one = await listener();
  one.socket.emit('subscribe', 'x'.repeat(17_000));
  await new Promise<void>((resolve) => one.socket.once('disconnect', () => resolve()));
});

test('a socket may send 50 messages a second, and more are refused', async () => {
  const limited = await exchange.replica({ RATE_LIMIT: 'on' });
  const one = await listener(limited);
  const acks = await Promise.all(Array.from({ length: 80 }, () => one.ask('subscribe', market.conditionId)));
  const refused = acks.filter(({ ok }) => !ok);
  // The handshake counts as one of them.
  expect(acks.slice(0, 49).every(({ ok }) => ok)).toBe(true);
  expect(refused.length).toBeGreaterThan(10);
  expect(refused[0].error.code).toBe('RATE_LIMITED');
  await sleep(200);
  expect(await one.ask('unsubscribe', market.conditionId)).toMatchObject({ ok: true });
  expect(await one.ask('subscribe', market.conditionId)).toMatchObject({ ok: true });
  await limited.stop();
});

test('one snapshot is built for a market and a sequence, however many sockets request it', async () => {
  await place(exchange, market);
  const reads = async () => {
    const info = await exchange.store.redis.info('commandstats');
    return Number(/cmdstat_hgetall:calls=(\d+)/.exec(info)?.[1] ?? 0);
  };
  const sockets = await Promise.all(Array.from({ length: 50 }, () => listener()));
  const before = await reads();
  const acks = await Promise.all(sockets.map((one) => one.ask('subscribe', market.conditionId)));
  expect(new Set(acks.map((ack) => ack.subscribed[0].sequence)).size).toBe(1);
  // The broadcaster reads a book by itself now and then.
  expect((await reads()) - before).toBeLessThanOrEqual(4);
});

test('without Redis a subscription is refused, and the socket stays', async () => {
  const away = await startWebReplicas({ replicas: 0, durable: true });
  try {
    const own = await away.replica();
    const other = await away.market(own);
    const one = await listen(own.url);
    await away.redis.kill();
    expect(await one.ask('subscribe', other.conditionId)).toMatchObject({
      ok: false,
      error: { code: 'UNAVAILABLE' },
    });
    const refused = new Promise((resolve) => {
      const late = io(own.url, { transports: ['websocket'], forceNew: true, auth: { token: 'x' } });
      late.once('connect_error', (error) => {
        late.close();
        resolve(error.message);
      });
    });
    expect(await refused).toBe('TOKEN_INVALID');
    await away.restartRedis();
    await until('it is back', async () => (await one.ask('subscribe', other.conditionId)).ok);
    await place(away, other);
    await one.heard('orderbook:update');
    one.close();
  } finally {
    await away.stop();
  }
});
