import { createShell } from '../../cli/shell';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Trader } from '../../support/trader';
import { eventually } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** The reads of the operator's console; test/page/operate.long.test.ts uses them through the page. */
let exchange: WebReplicas;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  alice = createTrader(exchange.client, await domainOf(exchange.client));
});
afterAll(() => exchange?.stop());

const get = (path: string) => exchange.client.get(path, { token: ADMIN_TOKEN });
const create = async (body: Record<string, unknown>) =>
  (await exchange.client.post('/admin/markets', { token: ADMIN_TOKEN, body })).body;

test('the overview shows the mode, the replicas, Redis, the outbox and the settlements', async () => {
  // The replicas are counted once each has subscribed.
  const { body } = await eventually(
    () => get('/admin/overview'),
    ({ status, body }) => expect([status, body.mode, body.replicas]).toEqual([200, 'NORMAL', 2]),
  );
  expect(body.redis.usedBytes).toBeGreaterThan(100_000);
  expect(body.outbox.readers.map(({ reader }: { reader: string }) => reader)).toContain('broadcast');
  expect(body.settlements).toEqual({ unconfirmed: 0, failed: 0, oldestSeconds: null });
});

test('the list contains drafts, and markets to resolve come first', async () => {
  const ended = await create({ question: 'Will it end?' });
  const draft = await create({ question: 'Will it begin?', draft: true });
  await exchange.client.post(`/admin/markets/${ended.id}/close`, { token: ADMIN_TOKEN });
  const ids = async (query: string): Promise<string[]> =>
    (await get(`/admin/markets${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect((await ids('')).slice(0, 2)).toEqual([ended.id, draft.id]);
  expect(await ids('?status=ENDED')).toEqual([ended.id]);
  expect(await ids('?status=DRAFT&q=BEGIN')).toEqual([draft.id]);
  const { body: first } = await get('/admin/markets?limit=1');
  expect(await ids(`?limit=1&cursor=${first.nextCursor}`)).toEqual([draft.id]);
  expect((await get('/admin/markets?cursor=x')).body.code).toBe('INVALID_CURSOR');
  expect((await get('/admin/markets?status=GONE')).body.code).toBe('INVALID_REQUEST');
});

test('the overview warns of a worker that is not there, of missing backups and audits, and of lost data', async () => {
  const names = async (): Promise<string[]> =>
    (await get('/admin/overview')).body.warnings.map(({ name }: { name: string }) => name);
  await create({ question: 'Is it watched?' });
  expect(await names()).toEqual(['worker', 'backup', 'audit', 'resolution']);
  const { redis, keys } = exchange.store;
  await redis.hset(keys.runs, {
    'backup:succeeded': Date.now(),
    'audit:succeeded': 1,
    'audit:failed': Date.now(),
  });
  await redis.hset(keys.epoch, 'lost', Date.now());
  const { warnings } = (await get('/admin/overview')).body;
  expect(warnings).toEqual([
    { name: 'epoch', level: 'red', detail: expect.stringContaining('Redis lost its data') },
    { name: 'worker', level: 'red', detail: expect.stringContaining('trades do not settle') },
    { name: 'audit', level: 'red', detail: expect.stringMatching(/^failed at 2/) },
    { name: 'resolution', level: 'amber', detail: '1 market has ended and no result' },
  ]);
  await redis.hdel(keys.epoch, 'lost');
  const { body } = await get('/readyz?verbose');
  expect(body.warnings).toEqual(warnings.slice(1));
  expect((await get('/readyz')).body.warnings).toBeUndefined();
});

test('the overview knows the last audit, of the command line and of an operator over HTTP', async () => {
  const { redis, keys } = exchange.store;
  const lastAudit = async () => (await get('/admin/overview')).body.lastAudit;
  const passed = { succeededAt: expect.stringMatching(/^2.*Z$/), failedAt: null };
  await redis.del(keys.runs);
  expect(await lastAudit()).toEqual({ succeededAt: null, failedAt: null });
  expect((await createShell(exchange.redis.url).exchange('audit')).code).toBe(0);
  expect(await lastAudit()).toEqual(passed);
  await redis.del(keys.runs);
  expect((await get('/admin/audit')).body.ok).toBe(true);
  expect(await lastAudit()).toEqual(passed);
  await redis.hset(keys.runs, 'audit:failed', 1_900_000_000_000);
  expect(await lastAudit()).toEqual({ ...passed, failedAt: '2030-03-17T17:46:40.000Z' });
});

test('the preview of a resolution counts holders, winners, payouts and orders, and changes nothing', async () => {
  const market = await create({ question: 'Will it count?' });
  await alice.post(`/markets/${market.id}/split`, { size: '30' });
  await alice.submit(market, { side: 'SELL', outcome: 0, pips: 6_000, lots: 1_000 });
  const preview = async (query: string) => (await get(`/admin/markets/${market.id}/resolution${query}`)).body;
  const same = { marketId: market.id, holders: 1, winners: 1, payout: '30', orders: 1 };
  expect(await preview('?outcomeIndex=0')).toEqual({ ...same, outcomeIndex: 0 });
  expect(await preview('?outcomeIndex=1')).toEqual({ ...same, outcomeIndex: 1 });
  expect(await preview('')).toEqual({ ...same, outcomeIndex: null });
  expect((await get(`/markets/${market.id}`)).body.status).toBe('OPEN');
  expect((await get('/admin/markets/nothing/resolution')).body.code).toBe('MARKET_NOT_FOUND');
});

test('an operator reads the orders of a wallet, and another caller does not', async () => {
  const { body } = await get(`/admin/accounts/${alice.address}/orders`);
  expect(body.data).toMatchObject([{ maker: alice.address, side: 'SELL', status: 'OPEN' }]);
  expect(body.data[0].order).toBeUndefined();
  for (const path of ['/admin/overview', '/admin/markets', `/admin/accounts/${alice.address}/orders`]) {
    expect((await exchange.client.get(path)).status).toBe(401);
    expect((await alice.get(path)).status).toBe(401);
  }
});
