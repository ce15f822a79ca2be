import { createOrderVerifier } from '../../src/auth/order-signature';
import { loadConfig } from '../../src/config/load';
import { type Deployment, type Process, startDeployment } from '../support/deployment';
import { startProxy } from '../support/proxy';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, type Domain, domainOf, type Market, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';

let deployment: Deployment;
let first: Process;
let second: Process;
let domain: Domain;
let market: Market;

beforeAll(async () => {
  deployment = await startDeployment();
  [first, second] = await Promise.all([deployment.web(), deployment.web()]);
  market = await openMarket(first.client, ADMIN_TOKEN);
  domain = await domainOf(first.client);
});
afterAll(() => deployment.stop());

const trader = (): Trader => createTrader(first.client, domain);
const sequence = async (at: Process): Promise<number> =>
  (await at.client.get(`/markets/${market.id}/orderbook`)).body.sequence;

test('one order sent to both replicas at the same time executes once, fifty times in a row', async () => {
  const maker = trader();
  const taker = trader();
  await maker.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100_000 });
  const before = await sequence(first);
  for (let turn = 0; turn < 50; turn++) {
    const body = { order: await taker.order(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 }) };
    const answers = await Promise.all(
      [first, second].map(({ client }) => client.post(`/markets/${market.id}/orders`, { body })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(1);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expect(answers[0]?.body).toMatchObject({ status: 'FILLED', filledSize: '1', averagePrice: '0.6' });
  }
  expect(await sequence(second)).toBe(before + 50);
  const { body } = await taker.get('/me/balances');
  expect(body.collateral).toEqual({ total: '9970', available: '9970', reserved: '0' });
  expect(body.tokens).toMatchObject([{ outcomeIndex: 0, total: '50', available: '50' }]);
});

test('a session opened at one replica is known at the other, and logging out there ends it here', async () => {
  const caller = trader();
  await caller.signIn();
  const token = await caller.token();
  expect((await second.client.get('/me/orders', { token })).status).toBe(200);
  expect((await second.client.post('/auth/logout', { token })).status).toBe(204);
  const after = await first.client.get('/me/orders', { token });
  expect([after.status, after.body.code]).toEqual([401, 'TOKEN_INVALID']);
});

test('after a replica was killed between the script and its reply, the order exists once, and a repetition returns it', async () => {
  const proxy = await startProxy(Number(new URL(deployment.redis.url).port));
  try {
    const doomed = await deployment.web({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    // It knows the market and is warm before the replies stop.
    await doomed.client.get(`/markets/${market.id}`);
    const maker = trader();
    const signed = await maker.order(market, { side: 'BUY', outcome: 0, pips: 1_000, lots: 1_000 });
    const verifier = await createOrderVerifier(domain);
    const orderHash = verifier.hash({
      ...(signed as unknown as Parameters<typeof verifier.hash>[0]),
      ...Object.fromEntries(
        ['salt', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'nonce', 'feeRateBps'].map((name) => [
          name,
          BigInt(String(signed[name])),
        ]),
      ),
    });
    const before = await sequence(second);
    proxy.holdReplies();
    const lost = doomed.client.post(`/markets/${market.id}/orders`, { body: { order: signed } }).then(
      // A killed process answers nothing, and one that waits for Redis for too long answers 503.
      ({ status }) => (status === 503 ? 'lost' : status),
      () => 'lost',
    );
    const stored = () => second.client.get(`/orders/${orderHash}`);
    await until('the order is stored', async () => (await stored()).status === 200);
    expect((await stored()).body).toMatchObject({ status: 'OPEN', size: '10' });
    doomed.child.kill('SIGKILL');
    expect(await lost).toBe('lost');

    const again = await second.client.post(`/markets/${market.id}/orders`, { body: { order: signed } });
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toMatchObject({ orderHash, status: 'OPEN', sequence: before + 1 });
    expect(await sequence(second)).toBe(before + 1);
  } finally {
    await proxy.stop();
  }
});

test('the addresses of the test network are those of the configuration', () => {
  expect(domain.verifyingContract.toLowerCase()).toBe(loadConfig({}).exchangeAddress.toLowerCase());
});
