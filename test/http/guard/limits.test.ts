import { type Answer, type Client, patiently } from '../../support/client';
import { openLink } from '../../support/redis';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, openMarket } from '../../support/trader';
import { type Replica, startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, env: { RATE_LIMIT: 'on' } });
});
afterAll(() => exchange.stop());
let replicas: Replica[] = [];
/** Two replicas and a Redis that have counted nothing yet. */
beforeEach(async () => {
  const { redis } = exchange.store;
  const spent = await redis.keys('rl:*');
  if (spent.length > 0) await redis.del(spent);
  replicas = await Promise.all([exchange.replica(), exchange.replica()]);
});
afterEach(() => Promise.all(replicas.map((one) => one.stop())));

/** At both replicas in turn, all at once. */
const many = (count: number, ask: (turn: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)));
const client = (turn: number): Client => (replicas[turn % 2] as Replica).client;
const count = (answers: readonly Answer[], status: number): number =>
  answers.filter((a) => a.status === status).length;

/** Pretends that a number of requests has just come, so that the speed of this machine does not matter. */
async function spend(bucket: string, points: number, key: string): Promise<void> {
  const link = await openLink(exchange.redis.port);
  await link.ask(`SET rl:${bucket}:${key} ${points} EX 60`);
  link.close();
}

test('reads are limited to 100 a second of one address, over all replicas', async () => {
  expect(count(await many(100, (i) => client(i).get('/time')), 200)).toBe(100);
  await spend('reads', 99, '127.0.0.1');
  const [last, refused] = [await client(0).get('/time'), await client(1).get('/time')];
  expect([last.status, last.headers.get('ratelimit')]).toEqual([200, '"reads";r=0;t=60']);
  expect([refused.status, refused.headers.get('ratelimit')]).toEqual([429, '"reads";r=0;t=60']);
  expect(refused.body).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
  expect(refused.headers.get('retry-after')).toBe('60');
  for (const answer of [last, refused]) {
    expect(answer.headers.get('ratelimit-policy')).toBe('"reads";q=100;w=1');
  }
  const probes = await many(150, (i) => client(i).get('/livez'));
  expect(count(probes, 200)).toBe(150);
});

test('sign-in is limited to 10 a minute of one address', async () => {
  const { address } = createTrader(client(0), {} as never);
  const answers = await many(15, (i) => client(i).get(`/auth/nonce/${address}`));
  expect([count(answers, 200), count(answers, 429)]).toEqual([10, 5]);
});

test('no client uses up another wallet’s orders, and a burst of 100 is accepted', async () => {
  const { body } = await client(0).get('/config');
  const market = await openMarket(client(0), ADMIN_TOKEN);
  const alice = createTrader(client(0), body.eip712.domain);
  const limit = { side: 'BUY', outcome: 0, pips: 100, lots: 1 } as const;
  const orders = await Promise.all(Array.from({ length: 100 }, () => alice.order(market, limit)));
  const path = `/markets/${market.id}/orders`;
  // A wrong signature costs its address 5 of the 400 submissions it may send at once.
  const forged = await many(50, (i) =>
    patiently(() => client(i).post(path, { body: { order: { ...orders[0], salt: `${i}` } } })),
  );
  expect(count(forged, 400)).toBe(50);
  const answers = await many(100, (i) =>
    patiently(() => client(i).post(path, { body: { order: orders[i] } })),
  );
  expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
});

test('orders do not use up cancels, nor cancels orders', async () => {
  const { body } = await client(0).get('/config');
  const market = await openMarket(client(0), ADMIN_TOKEN);
  const alice = createTrader(client(0), body.eip712.domain);
  const limit = { side: 'BUY', outcome: 0, pips: 100, lots: 1 } as const;
  const token = await alice.token();
  const path = `/markets/${market.id}/orders`;
  const [first, second] = [await alice.submit(market, limit), await alice.submit(market, limit)];
  await spend('orders', 50, alice.address);
  await spend('orders+', 50, alice.address);
  const refused = await alice.submit(market, limit);
  expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
    429,
    '"submissions";q=200;w=1;burst=400, "orders";q=50;w=1;burst=100',
  ]);
  expect(refused.body.scope).toBe('orders');
  const bob = createTrader(client(0), body.eip712.domain);
  expect((await bob.submit(market, limit)).status).toBe(200);
  const one = await client(1).post(`${path}/cancel`, {
    token,
    body: { orderHash: first.body.orderHash },
  });
  expect([one.status, one.body.cancelled]).toEqual([200, true]);
  const all = await client(0).post(`${path}/cancel-all`, { token });
  expect([all.status, all.body.cancelled]).toEqual([200, [second.body.orderHash]]);
  expect(all.headers.get('ratelimit')).toMatch(/^"cancels-by-ip";r=\d+;t=\d+, "cancels";r=\d+;t=\d+$/);
  await spend('cancels', 100, alice.address);
  await spend('cancels+', 100, alice.address);
  expect((await client(0).post(`${path}/cancel-all`, { token })).status).toBe(429);
});

describe('the address that requests are counted for', () => {
  const from = (at: Pick<Replica, 'client'>, forwarded: string): Promise<Answer> =>
    at.client.get(`/auth/nonce/0x${'1'.repeat(40)}`, { headers: { 'x-forwarded-for': forwarded } });
  const fifteen = async (at: Pick<Replica, 'client'>, forwarded: (turn: number) => string): Promise<number> =>
    count(await many(15, (i) => from(at, forwarded(i))), 200);

  test('X-Forwarded-For is ignored without a proxy', async () => {
    expect(await fifteen({ client: client(0) }, (i) => `203.0.113.${i}`)).toBe(10);
  });

  test.each([
    ['1', (client: string) => client],
    ['2', (client: string) => `${client}, 10.0.0.7`],
    ['loopback,10.0.0.0/8', (client: string) => `${client}, 10.0.0.7, 10.0.0.8`],
  ])(
    'behind TRUST_PROXY=%s the address that the proxy saw counts, whatever the client wrote before it',
    async (trust, seen) => {
      const proxied = await exchange.replica({ TRUST_PROXY: trust });
      try {
        // A client that invents addresses stays one client, and affects no other.
        expect(await fifteen(proxied, (i) => `198.51.100.${i}, ${seen('203.0.113.5')}`)).toBe(10);
        expect(await fifteen(proxied, () => seen('198.51.100.1'))).toBe(10);
        expect((await from(proxied, `203.0.113.9, ${seen('203.0.113.5')}`)).status).toBe(429);
        // One customer has a whole /64.
        expect(await fifteen(proxied, (i) => seen(`2001:db8:0:7::${i + 1}`))).toBe(10);
        expect((await from(proxied, seen('2001:db8:0:8::1'))).status).toBe(200);
        // A malformed address is not trusted: the connection's own address counts.
        expect(await fifteen(proxied, (i) => seen(`unknown-${i}`))).toBe(10);
      } finally {
        await proxied.stop();
      }
    },
  );
});

test('with RATE_LIMIT=off no request is limited, and no header mentions a limit', async () => {
  const free = await exchange.replica({ RATE_LIMIT: 'off' });
  try {
    const answers = await many(150, () => free.client.get('/time'));
    expect(count(answers, 200)).toBe(150);
    expect(answers.some(({ headers }) => headers.has('ratelimit'))).toBe(false);
  } finally {
    await free.stop();
  }
});
