import { Redis } from 'ioredis';
import { readRuns } from '../../../src/store/health/runs';
import { createKeys } from '../../../src/store/redis/keys';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
});
afterAll(() => exchange?.stop());

const audit = (replica = 0) =>
  (exchange.replicas[replica] ?? exchange.replicas[0]).client.get('/admin/audit', { token: ADMIN_TOKEN });

test('the audit passes a correct exchange and names the differences of another', async () => {
  const { client } = exchange;
  const redis = new Redis(exchange.redis.url);
  const market = await openMarket(client, ADMIN_TOKEN);
  const alice = createTrader(client, await domainOf(client));
  const placed = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 });
  expect(placed.status).toBe(200);

  const standing = async () => (await readRuns({ redis, keys: createKeys() })).audit;
  const healthy = { ok: true, checked: { orders: 1, balances: 1, markets: 1, fills: 0 }, differences: [] };
  const answers = await Promise.all([audit(), audit(), audit(1)]);
  for (const { status, body } of answers) expect([status, body]).toEqual([200, healthy]);

  const passed = await standing();
  expect(passed).toEqual({ succeededMs: expect.any(Number), failedMs: 0 });
  expect(passed.succeededMs).toBeGreaterThan(0);
  await redis.zremrangebyrank(createKeys().bids(market.id), 0, -1);
  await redis.zremrangebyrank(createKeys().wallet(Buffer.from(alice.address.slice(2), 'hex')), 0, -1);
  const { status, body } = await audit();
  expect((await standing()).failedMs).toBeGreaterThan(0);
  redis.disconnect();
  expect([status, body.ok]).toEqual([200, false]);
  const at = { marketId: market.id, orderHash: placed.body.orderHash };
  expect(body.differences).toEqual([
    { kind: 'WALLET_INDEX', ...at, wallet: alice.address, ...differing },
    { kind: 'BOOK_ENTRY', ...at, ...differing },
  ]);
});

const differing = { expected: expect.any(String), found: 'none', detail: expect.any(String) };

test('the operators’ log says who ran an audit and what it found', async () => {
  const log = await exchange.client.get('/admin/log', { token: ADMIN_TOKEN });
  const results = log.body.data
    .filter(({ action }: { action: string }) => action === 'GET /admin/audit')
    .map(({ body, status }: { body: unknown; status: number }) => ({ body, status }));
  expect(results).toEqual([
    { status: 200, body: { ok: false, differences: 2 } },
    ...Array(3).fill({ status: 200, body: { ok: true, differences: 0 } }),
  ]);
});

test('only the operator may run the audit', async () => {
  const { client } = exchange;
  expect((await client.get('/admin/audit')).body.code).toBe('UNAUTHORIZED');
  expect((await client.get('/admin/audit', { token: 'x'.repeat(40) })).body.code).toBe('TOKEN_INVALID');
  expect((await client.call('POST', '/admin/audit', { token: ADMIN_TOKEN })).status).toBe(405);
});
