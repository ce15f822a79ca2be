import type { Answer, Client } from '../support/client';
import { type Deployment, type Process, startDeployment } from '../support/deployment';
import { type Started, startNode } from '../support/processes';
import { sizeOf } from '../support/sample';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';

/** Enough for a few requests on a busy machine. */
const LIFE_SEC = 5;

let deployment: Deployment;
/** The signals that end web and the worker; the short form starts one pair. */
const SIGNALS = (
  [
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const
).slice(0, sizeOf('LIFE_PAIRS', 1, 2));
let pairs: (readonly [Process, Started])[];
const SECRET = 'short-secret';
const BAD = { PORT: 'http', NETWORK: 'moon', JWT_SECRET: SECRET, FUNDS: 'gold' };
/** Programs that end by themselves, while the others work. */
let withoutRedis: Started;
let misconfigured: Readonly<Record<string, Started>>;
beforeAll(async () => {
  // It waits for its Redis.
  withoutRedis = startNode(['dist/web.js'], { ...ENVIRONMENT, REDIS_URL: 'redis://127.0.0.1:1', PORT: '0' });
  deployment = await startDeployment();
  pairs = await Promise.all(SIGNALS.map(() => Promise.all([deployment.web(), deployment.worker()])));
  misconfigured = Object.fromEntries(
    ['dist/web.js', 'dist/worker.js'].map((file) => [file, startNode([file], BAD)]),
  );
});
afterAll(() => deployment.stop());

async function traderIn(client: Client): Promise<Trader> {
  const maker = createTrader(client, await domainOf(client));
  await maker.signIn();
  return maker;
}

test('the worker expires orders and closes markets by themselves: books, reservations and open orders', async () => {
  const [[{ client }]] = pairs as [readonly [Process, Started]];
  const [maker, other] = await Promise.all([traderIn(client), traderIn(client)]);
  const endsAtMs = Date.now() + LIFE_SEC * 1_000;
  const market = await openMarket(client, ADMIN_TOKEN);
  const closing = await openMarket(client, ADMIN_TOKEN, { closesAt: new Date(endsAtMs).toISOString() });
  const expiring = await maker.submit(
    market,
    { side: 'BUY', outcome: 0, pips: 5_000, lots: 1_000 },
    { more: { expiration: String(Math.floor(endsAtMs / 1_000)) } },
  );
  const resting = await other.submit(closing, { side: 'BUY', outcome: 1, pips: 5_000, lots: 1_000 });
  expect([expiring.body.status, resting.body.status]).toEqual(['OPEN', 'OPEN']);
  expect((await maker.get('/me/balances')).body.collateral.reserved).toBe('5');
  const shown = async ({ body }: Answer) => (await client.get(`/orders/${body.orderHash}`)).body;
  const hasEnded = async (order: Answer): Promise<boolean> => (await shown(order)).status !== 'OPEN';
  for (const order of [expiring, resting])
    await until('the order has ended', () => hasEnded(order), { pollMs: 100 });

  expect(await shown(expiring)).toMatchObject({ status: 'EXPIRED', reason: 'EXPIRED', cancelledSize: '10' });
  expect((await client.get(`/markets/${market.id}/orderbook`)).body.bids).toEqual([]);
  expect((await maker.get('/me/balances')).body.collateral).toMatchObject({
    reserved: '0',
    available: '10000',
  });
  expect((await maker.get('/me/orders?status=open')).body.data).toEqual([]);

  expect(await shown(resting)).toMatchObject({ status: 'CANCELLED', reason: 'MARKET_CLOSED' });
  expect((await client.get(`/markets/${closing.id}`)).body.status).toBe('CLOSED');
});

test('SIGTERM and SIGINT each end web and the worker in order', async () => {
  for (const [at, pair] of pairs.entries())
    for (const [i, { child }] of pair.entries()) child.kill(SIGNALS[at]?.[i]);
  const all = pairs.flat();
  expect(await Promise.all(all.map(({ exited }) => exited))).toEqual(all.map(() => 0));
});

test.each(['dist/web.js', 'dist/worker.js'])(
  '%s reports all bad configuration at once and exits with 78',
  async (file) => {
    const started = misconfigured[file] as Started;
    expect(await started.exited).toBe(78);
    for (const name of ['PORT', 'NETWORK', 'JWT_SECRET', 'FUNDS']) expect(started.stderr()).toContain(name);
    expect(started.stderr()).not.toContain(SECRET);
    expect(started.stderr()).not.toMatch(/^\s+at /m);
  },
);

test('a web process without Redis reports it and ends', async () => {
  expect(await withoutRedis.exited).toBe(1);
  expect(withoutRedis.stdout()).toContain('nothing listens there (connect ECONNREFUSED 127.0.0.1:1)');
});
