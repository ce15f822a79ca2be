import { type Deployment, type Process, startDeployment } from '../support/deployment';
import { type Started, startNode } from '../support/processes';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, type Domain, domainOf, openMarket } from '../support/trader';
import { until } from '../support/waiting';

/** Enough for a few requests on a busy machine. */
const LIFE_SEC = 5;

let deployment: Deployment;
let web: Process;
let worker: Started;
beforeAll(async () => {
  deployment = await startDeployment();
  [web, worker] = await Promise.all([deployment.web(), deployment.worker()]);
});
afterAll(() => deployment.stop());

test('the worker expires orders by themselves: book, reservation and open orders', async () => {
  const market = await openMarket(web.client, ADMIN_TOKEN);
  const domain: Domain = await domainOf(web.client);
  const maker = createTrader(web.client, domain);
  await maker.signIn();
  const expiration = String(Math.floor(Date.now() / 1_000) + LIFE_SEC);
  const { body } = await maker.submit(
    market,
    { side: 'BUY', outcome: 0, pips: 5_000, lots: 1_000 },
    { more: { expiration } },
  );
  expect(body.status).toBe('OPEN');
  expect((await maker.get('/me/balances')).body.collateral.reserved).toBe('5');
  const shown = async () => (await web.client.get(`/orders/${body.orderHash}`)).body;
  await until('the order has ended', async () => (await shown()).status !== 'OPEN', { pollMs: 100 });
  const record = await shown();
  expect(record).toMatchObject({ status: 'EXPIRED', reason: 'EXPIRED', cancelledSize: '10' });
  expect((await web.client.get(`/markets/${market.id}/orderbook`)).body.bids).toEqual([]);
  expect((await maker.get('/me/balances')).body.collateral).toMatchObject({
    reserved: '0',
    available: '10000',
  });
  expect((await maker.get('/me/orders?status=open')).body.data).toEqual([]);
});

test('a market closes at its time, and its resting orders are returned', async () => {
  const closesAt = new Date(Date.now() + LIFE_SEC * 1_000).toISOString();
  const market = await openMarket(web.client, ADMIN_TOKEN, { closesAt });
  const domain: Domain = await domainOf(web.client);
  const maker = createTrader(web.client, domain);
  const { body } = await maker.submit(market, { side: 'BUY', outcome: 1, pips: 5_000, lots: 1_000 });
  const shown = async () => (await web.client.get(`/orders/${body.orderHash}`)).body;
  await until('the order has ended', async () => (await shown()).status !== 'OPEN', { pollMs: 100 });
  const record = await shown();
  expect(record).toMatchObject({ status: 'CANCELLED', reason: 'MARKET_CLOSED' });
  expect((await web.client.get(`/markets/${market.id}`)).body.status).toBe('CLOSED');
});

test('SIGTERM ends web and SIGINT ends the worker in order', async () => {
  web.child.kill('SIGTERM');
  worker.child.kill('SIGINT');
  expect(await Promise.all([web.exited, worker.exited])).toEqual([0, 0]);
});

test('SIGINT ends web and SIGTERM ends the worker in order', async () => {
  const [other, another] = await Promise.all([deployment.web(), deployment.worker()]);
  other.child.kill('SIGINT');
  another.child.kill('SIGTERM');
  expect(await Promise.all([other.exited, another.exited])).toEqual([0, 0]);
});

test.each(['dist/web.js', 'dist/worker.js'])(
  '%s reports all bad configuration at once and exits with 78',
  async (file) => {
    const secret = 'short-secret';
    const started = startNode([file], { PORT: 'http', NETWORK: 'moon', JWT_SECRET: secret, FUNDS: 'gold' });
    expect(await started.exited).toBe(78);
    for (const name of ['PORT', 'NETWORK', 'JWT_SECRET', 'FUNDS']) expect(started.stderr()).toContain(name);
    expect(started.stderr()).not.toContain(secret);
    expect(started.stderr()).not.toMatch(/^\s+at /m);
  },
);

test('a web process without Redis reports it and ends', async () => {
  const started = startNode(['dist/web.js'], { ...ENVIRONMENT, REDIS_URL: 'redis://127.0.0.1:1', PORT: '0' });
  expect(await started.exited).toBe(1);
  expect(started.stdout()).toContain('nothing listens there (connect ECONNREFUSED 127.0.0.1:1)');
});
