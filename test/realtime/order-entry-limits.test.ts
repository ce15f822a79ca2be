import { sessionKey } from '../../src/store/redis/keys';
import type { Answer } from '../support/client';
import { type OrderLane, openLane } from '../support/order-lane';
import { openLink } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { limit } from '../support/weather-market';
import { type Replica, startReplica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Callers, limits and ends of order messages. */
let exchange: WebReplicas;
let first: Replica;
let link: Awaited<ReturnType<typeof openLink>>;
let market: OpenMarket;
let alice: Trader;
/** Has cancelled nothing yet, because the cancels of a wallet are limited. */
let carol: Trader;
let addresses = 0;
let address: string;
const opened: OrderLane[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on', TRUST_PROXY: '1' } });
  first = exchange.replicas[0];
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  link = await openLink(exchange.redis.port);
  const domain = await domainOf(exchange.client);
  [alice, carol] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
});
afterAll(async () => {
  link.close();
  await exchange.stop();
});
beforeEach(() => {
  address = `192.0.2.${++addresses}`;
});
afterEach(() => {
  for (const lane of opened.splice(0)) lane.close();
});

/** From the address of this test. */
async function open(token?: string, at = first): Promise<OrderLane> {
  const lane = await openLane(at.url, token, { extraHeaders: { 'X-Forwarded-For': address } });
  opened.push(lane);
  return lane;
}
const UNKNOWN = `0x${'12'.repeat(32)}`;
const cancel = (orderHash = UNKNOWN): Parameters<OrderLane['send']> => [
  'order:cancel',
  JSON.stringify({ marketId: market.id, orderHash }),
];
const submit = async (trader = alice): Promise<Parameters<OrderLane['send']>> => [
  'order:submit',
  JSON.stringify({ marketId: market.id, order: await trader.order(market, limit('BUY', 0, 100, 100)) }),
];
const told = ({ status, body }: Answer) => [status, body.code];

async function frozen<T>(act: () => Promise<T>): Promise<T> {
  process.kill(exchange.redis.pid, 'SIGSTOP');
  try {
    return await act();
  } finally {
    process.kill(exchange.redis.pid, 'SIGCONT');
  }
}

test('a public socket is refused, and its order messages count as its other messages do', async () => {
  const lane = await open();
  expect(told(await lane.send(...(await submit())))).toEqual([401, 'UNAUTHORIZED']);
  expect(told(await lane.send(...cancel()))).toEqual([401, 'UNAUTHORIZED']);
  const heard: string[] = [];
  lane.listener.socket.io.engine.on('message', (text: unknown) => heard.push(String(text)));
  for (let i = 0; i < 90; i++) void lane.send(...cancel()).catch(() => undefined);
  await until('the allowance is used up', () =>
    heard.some((text) => text.includes('"status":429') && text.includes('RATE_LIMITED')),
  );
});

test('an API key has the rights that it has over HTTP', async () => {
  const keyOf = async (...scopes: string[]): Promise<string> =>
    (await alice.post('/me/keys', { name: 'lane', scopes })).body.key;
  const [reading, cancelling] = [await open(await keyOf('read')), await open(await keyOf('read', 'cancel'))];
  const booked = await reading.send(...(await submit()));
  expect(booked.status).toBe(200);
  expect(told(await reading.send(...cancel(booked.body.orderHash)))).toEqual([403, 'FORBIDDEN']);
  expect(told(await cancelling.send(...cancel(booked.body.orderHash)))).toEqual([200, undefined]);
});

test('a wallet cannot send the orders of another, however they are signed', async () => {
  const bob = createTrader(exchange.client, await domainOf(exchange.client));
  const lane = await open(await alice.token());
  expect(told(await lane.send(...(await submit(bob))))).toEqual([403, 'MAKER_MISMATCH']);
});

test('a session that has ended cancels nothing, also before its socket is closed', async () => {
  const answers: Answer[] = [];
  while (answers.length === 0) {
    const trader = createTrader(exchange.client, await domainOf(exchange.client));
    const lane = await open(await trader.token());
    const claims = JSON.parse(
      Buffer.from((await trader.token()).split('.')[1] ?? '', 'base64url').toString(),
    );
    // Without the announcement of a logout, so that the socket is still open unless its check comes just now.
    await link.ask(`DEL ${sessionKey(claims.sid)}`);
    await lane.send(...cancel()).then(
      (answer) => answers.push(answer),
      () => undefined,
    );
  }
  expect(answers.map(told)).toEqual([[401, 'TOKEN_INVALID']]);
});

test('a renewed socket sends orders under its new token', async () => {
  const lane = await open((await alice.post('/me/keys', { name: 'a', scopes: ['read'] })).body.key);
  expect(told(await lane.send(...cancel()))).toEqual([403, 'FORBIDDEN']);
  expect(await lane.listener.ask('renew', { token: await alice.token() })).toMatchObject({ ok: true });
  expect(told(await lane.send(...cancel()))).toEqual([404, 'ORDER_NOT_FOUND']);
});

test('orders over a socket take from the submissions of their address, as orders over HTTP do', async () => {
  const lane = await open(await alice.token());
  const payload = JSON.stringify({ marketId: 'nowhere', dryRun: true, orders: Array(20).fill({}) });
  const answers = await Promise.all(Array.from({ length: 10 }, () => lane.send('orders:submit', payload)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, headers } of refused)
    expect([body.code, body.scope, headers.get('retry-after')]).toEqual(['RATE_LIMITED', 'submissions', '1']);
  // The replicas share one count of both.
  expect(Number(await link.ask(`GET rl:submissions:${address}`))).toBeGreaterThan(0);
});

test.each([
  ['a wrong signature', 1, '0', { signature: `0x${'11'.repeat(64)}1b` }],
  ['a price off the tick', 1, '0', { makerAmount: '1000000000000001' }],
  ['another fee', 1, '0', { feeRateBps: '77' }],
  ['a nonce that no wallet reaches', 1, '0', { nonce: String(2n ** 32n) }],
  ['another nonce', 0, '7', {}],
  ['a token of another market', 0, '0', { tokenId: '1' }],
])('a refusal for %s takes %s from the reads of the address', async (_, reads, nonce, wrong) => {
  const lane = await open(await alice.token());
  // The count is of one second, and Redis forgets it after that.
  await until('the refusal is counted so', async () => {
    const key = `rl:reads:${address}`;
    await link.ask(`DEL ${key}`);
    const order = await alice.order(market, limit('BUY', 0, 100, 100), { nonce });
    const { body } = await lane.send(
      'order:submit',
      JSON.stringify({ marketId: market.id, order: { ...order, ...wrong } }),
    );
    expect(body.status).toBe(400);
    return Number(await link.ask(`GET ${key}`)) === reads;
  });
});

test('a hundred order messages at once are served, and leave the other messages their allowance', async () => {
  const lane = await open(await alice.token());
  const answers = await Promise.all(Array.from({ length: 100 }, () => lane.send(...cancel())));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  const { conditionId } = market;
  expect(await lane.listener.ask('subscribe', { conditionId })).toMatchObject({ ok: true });
});

test('the messages of one socket without an answer are bounded', async () => {
  const lane = await open(await carol.token());
  await frozen(async () => {
    const waiting = Array.from({ length: 100 }, () => lane.send(...cancel()));
    const more = await lane.send(...cancel());
    expect([...told(more), more.body.scope]).toEqual([429, 'RATE_LIMITED', 'sockets']);
    expect(more.headers.get('retry-after')).toBe('1');
    void Promise.allSettled(waiting);
  });
  await until('there is room again', async () => (await lane.send(...cancel())).body.scope !== 'sockets');
});

describe('sizes', () => {
  const batchOf = (bytes: number): string => {
    const empty = JSON.stringify({ marketId: market.id, orders: [''] }).length;
    return JSON.stringify({ marketId: market.id, orders: ['x'.repeat(bytes - empty)] });
  };

  test('of private sockets are those of bodies', async () => {
    const lane = await open(await alice.token());
    const batch = await lane.send('orders:submit', batchOf(262_144));
    expect([batch.status, batch.body.results[0].code]).toEqual([200, 'INVALID_REQUEST']);
    expect(told(await lane.send('orders:submit', batchOf(262_145)))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(told(await lane.send('order:submit', batchOf(16_385)))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    // With its name and its number the message has 27 bytes more: 263,168, and then one too many.
    expect(told(await lane.send('orders:submit', batchOf(263_141)))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    await expect(lane.send('orders:submit', batchOf(263_142))).rejects.toThrow('transport');
  });

  test('of other messages, and of public sockets, are as before', async () => {
    const lane = await open(await alice.token());
    const late = expect(lane.listener.ask('subscribe', 'x'.repeat(17_000))).rejects.toThrow();
    await until('it is closed', () => lane.listener.ended() !== null);
    await late;
    await expect((await open()).send('orders:submit', batchOf(17_000))).rejects.toThrow('transport');
  });
});

test('without Redis an order is answered 503 in time', async () => {
  const lane = await open(await alice.token());
  // A socket whose events cannot be read is closed, so they must have begun before.
  await lane.send(...(await submit()));
  await lane.listener.heard('order:update');
  const order = await submit();
  const answer = await frozen(() => lane.send(...order));
  expect(told(answer)).toEqual([503, 'UNAVAILABLE']);
  expect(answer.headers.get('retry-after')).toBe('1');
});

/** After a silence of Redis its connections are replaced; meanwhile no socket is admitted. */
const isBack = (): Promise<boolean> =>
  alice
    .token()
    .then(open)
    .then(
      () => true,
      () => false,
    );

test('a socket that closes before its answer harms nothing', async () => {
  await until('sockets are admitted again', isBack);
  const lane = await open(await alice.token());
  const sent = await submit();
  const hash = (await (await open(await alice.token())).send(...(await submit()))).body.orderHash;
  await frozen(async () => {
    const answer = lane.send(...sent);
    lane.close();
    await expect(answer).rejects.toThrow('order:submit');
  });
  await until(
    'the process answers',
    async () => (await exchange.client.get(`/orders/${hash}`)).status === 200,
  );
  expect(exchange.logged.join('\n')).not.toContain('INTERNAL');
});

test('a process that stops answers what is under way, and refuses more', async () => {
  await until('sockets are admitted again', isBack);
  const replica = await startReplica({
    ...ENVIRONMENT,
    REDIS_URL: exchange.redis.url,
    RATE_LIMIT: 'on',
    TRUST_PROXY: '1',
  });
  const lane = await open(await alice.token(), replica);
  const { stopped, under, more } = await frozen(async () => {
    const waiting = lane.send(...cancel());
    await until('it is under way', async () => (await lane.send('order:submit', '{}')).status === 400);
    const stopping = replica.stop();
    return { stopped: stopping, under: waiting, more: await lane.send(...cancel()) };
  });
  expect([...told(more), more.body.detail]).toEqual([
    503,
    'UNAVAILABLE',
    'this process is shutting down; connect again',
  ]);
  expect([404, 503]).toContain((await under).status);
  await stopped;
});

test('the metrics count order messages by their events', async () => {
  const lane = await open(await alice.token());
  await lane.send(...cancel());
  const { text } = await exchange.client.get('/metrics');
  expect(text).toMatch(
    /exchange_http_request_seconds_count\{route="socket order:cancel",status="4xx"\} [1-9]/,
  );
});
