import { startWeb } from '../../../../src/app/web';
import { startWorker } from '../../../../src/app/worker';
import { loadConfig } from '../../../../src/config/load';
import { ConfigError } from '../../../../src/config/report';
import { createDirectory } from '../../../../src/extensions/shards/store/directory';
import { createLogger } from '../../../../src/log';
import { createKeys } from '../../../../src/store/redis/keys';
import { createShell } from '../../../cli/shell';
import type { Client } from '../../../support/client';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../../support/web-replicas';
import { walletAt } from './cluster-exchange';

/** An exchange with four shards on one Redis: one wallet trades in markets of several shards. */
const SHARDS = 4;
let exchange: WebReplicas;
let client: Client;
let markets: readonly (Market & { readonly slug: string })[];
let [alice, bob]: Trader[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, env: { SHARDS: String(SHARDS), PAPER_GRANT: '100' } });
  ({ client } = await exchange.replica());
  const domain = await domainOf(client);
  [alice, bob] = [createTrader(client, domain, walletAt(0)), createTrader(client, domain)];
  const opened = [];
  for (let shard = 0; shard < SHARDS; shard++)
    opened.push(await openMarket(client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard }));
  markets = opened as never;
});
afterAll(() => exchange.stop());

const marketOf = (shard: number): Market => markets[shard] as Market;
const buy = (pips: number, shares: number, outcome: 0 | 1 = 0) =>
  ({ side: 'BUY', outcome, pips, lots: shares * 100 }) as const;

test('a market is in the shard that its operator chose, and is listed with those of the others', async () => {
  const directory = createDirectory({ redis: exchange.store.redis, keys: createKeys(0), count: SHARDS });
  for (const [shard, { id }] of markets.entries()) expect(await directory.find(id)).toBe(shard);
  const listed = await client.get('/markets?sort=createdAt');
  expect(listed.body.data.map(({ id }: Market) => id)).toEqual(markets.map(({ id }) => id).reverse());
  for (const { id, slug } of markets) expect((await client.get(`/markets/${slug}`)).body.id).toBe(id);
  expect((await client.get('/config')).body.shards).toBe(SHARDS);
  expect((await client.get('/readyz')).body).toMatchObject({
    status: 'ready',
    shards: { 0: 'up', 1: 'up', 2: 'up', 3: 'up' },
  });
});

test('one wallet spends its grant in the markets of all shards, and no more', async () => {
  const ally = alice as Trader;
  // At 0.50: 10, 20, 30 and 40.
  for (const [shard, shares] of [20, 40, 60, 80].entries())
    expect(await ally.submit(marketOf(shard), buy(5_000, shares))).toMatchObject({ status: 200 });
  expect((await ally.get('/me/balances')).body).toMatchObject({
    collateral: { available: '0', reserved: '100' },
  });
  const refused = await ally.submit(marketOf(2), buy(5_000, 1));
  expect(refused).toMatchObject({ status: 422, body: { code: 'INSUFFICIENT_BALANCE', available: '0' } });
  // Her home sends twice 20 of its 90, then 30, and then the last shard gets the 20 of two others.
  const { text } = await client.get('/metrics');
  expect(text).toContain('exchange_pulled_orders_total{end="home"} 2');
  expect(text).toContain('exchange_pulled_orders_total{end="gathered"} 1');
  expect(text).toContain('exchange_pulled_orders_total{end="refused"} 1');
  expect(text).toContain('exchange_transfers_total{from="0"} 3');
  expect(text).toContain('exchange_transfers_total{from="1"} 1');
  expect(text).toContain(`exchange_shards ${SHARDS}`);
  const open = (await ally.get('/me/orders?status=open')).body.data;
  expect(new Set(open.map(({ marketId }: { marketId: string }) => marketId)).size).toBe(SHARDS);
});

test('orders trade, are cancelled and read, wherever their market is', async () => {
  const [maker, taker] = [alice as Trader, bob as Trader];
  const sold = await taker.submit(marketOf(1), buy(5_000, 20, 1));
  expect(sold.body).toMatchObject({ status: 'FILLED' });
  expect((await client.get(`/markets/${marketOf(1).id}/trades`)).body.data).toHaveLength(1);
  const position = await taker.get('/me/positions');
  expect(position.body.data).toMatchObject([{ marketId: marketOf(1).id }]);
  const orders = (await maker.get('/me/orders?status=open')).body.data as {
    orderHash: string;
    marketId: string;
  }[];
  const other = orders.find(({ marketId }) => marketId === marketOf(3).id);
  expect(await maker.post(`/orders/${other?.orderHash}/cancel`)).toMatchObject({ status: 200 });
  expect((await client.get(`/orders/${other?.orderHash}`)).body.status).toBe('CANCELLED');
  expect((await maker.post('/me/orders/cancel-all')).status).toBe(200);
  expect((await maker.get('/me/orders?status=open')).body.data).toEqual([]);
  expect((await maker.get('/me/balances')).body.collateral).toMatchObject({ available: '90', reserved: '0' });
});

test('the mode, a market’s end and its payouts reach every shard', async () => {
  const admin = (method: string, path: string, body: unknown) =>
    client.call(method, path, { token: ADMIN_TOKEN, body });
  expect((await admin('PUT', '/admin/mode', { mode: 'CANCEL_ONLY' })).status).toBe(200);
  for (let shard = 0; shard < SHARDS; shard++)
    expect((await (bob as Trader).submit(marketOf(shard), buy(5_000, 1))).body.code).toBe('CANCEL_ONLY');
  expect((await admin('PUT', '/admin/mode', { mode: 'NORMAL' })).status).toBe(200);
  const resolved = await admin('POST', `/admin/markets/${marketOf(1).id}/resolve`, { outcomeIndex: 0 });
  expect(resolved).toMatchObject({ status: 200, body: { status: 'RESOLVED' } });
  expect((await (alice as Trader).get('/me/balances')).body.collateral.available).toBe('110');
  expect((await (bob as Trader).get('/me/balances')).body.collateral.available).toBe('90');
});

test('every shard and every channel is consistent afterwards', async () => {
  const audit = await client.get('/admin/audit', { token: ADMIN_TOKEN });
  const kinds = audit.body.differences.filter(({ kind }: { kind: string }) => kind !== 'SETTLEMENT_MISSING');
  expect(kinds).toEqual([]);
  expect(audit.body.checked.markets).toBe(SHARDS);
  // Channels are a part of it.
  const sums = createKeys(2).sums;
  await exchange.store.redis.hincrby(sums, 'got:1', 5);
  const spoilt = await client.get('/admin/audit', { token: ADMIN_TOKEN });
  await exchange.store.redis.hincrby(sums, 'got:1', -5);
  expect(spoilt.body).toMatchObject({ ok: false });
  expect(spoilt.body.differences).toContainEqual(
    expect.objectContaining({ kind: 'IN_TRANSIT', name: '1 to 2' }),
  );
});

test('a process does not start with another number of shards, and says which number it needs', async () => {
  const config = loadConfig({ ...ENVIRONMENT, REDIS_URL: exchange.redis.url, PORT: '0', NODE_ENV: 'test' });
  const log = createLogger({ ...config, logLevel: 'silent' }, 'web');
  for (const start of [startWeb, startWorker]) {
    const error = await start(config, log).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain('SHARDS');
    expect(String(error)).toContain('must be 4, the number of shards of this exchange: set SHARDS=4');
  }
});

test('commands want the same number', async () => {
  const at = (shards: string) => createShell(exchange.redis.url, { ...ENVIRONMENT, SHARDS: shards });
  const other = await at('1').exchange('markets', 'list');
  expect(other).toMatchObject({ code: 78, err: expect.stringContaining('set SHARDS=4') });
  expect(await at('4').json('markets', 'list')).toHaveLength(SHARDS);
  const doctor = await at('4').exchange('--json', 'doctor');
  const names = JSON.parse(doctor.out).checks.map(({ name }: { name: string }) => name);
  // The shards are on one Redis, whose checks have their usual names.
  expect([doctor.code, names]).toEqual([
    0,
    expect.arrayContaining(['durability', 'mode', 'channels', 'shards']),
  ]);
});
