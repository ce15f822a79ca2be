import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createChannels } from '../../../../src/extensions/shards/store/channels';
import { checkChannels } from '../../../../src/extensions/shards/store/check-channels';
import type { RunningRedis } from '../../../../src/local/redis';
import { addressBytes } from '../../../../src/store/records/order';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../../../src/store/redis/scripts';
import { contents } from '../../../cli/contents';
import { createShell } from '../../../cli/shell';
import type { Client } from '../../../support/client';
import { startTestCluster, startTestRedis } from '../../../support/redis';
import { ADMIN_TOKEN } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { startReplica, startWebReplicas, type WebReplicas } from '../../../support/web-replicas';
import { walletWithHome } from '../store/world';

/** An exchange of four shards that trades, in one file, and put back into another Redis. */
const SHARDS = 4;
const ENV = { SHARDS: String(SHARDS), PAPER_GRANT: '100' };
const shards = Array.from({ length: SHARDS }, (_, k) => createKeys(k));
let exchange: WebReplicas;
let target: RunningRedis;
let folder: string;
let file: string;
let markets: Market[];
let from: ReturnType<typeof createShell>;
let to: ReturnType<typeof createShell>;

/** One match in each shard. */
async function trade(client: Client): Promise<Trader> {
  const domain = await domainOf(client);
  const [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
  for (const market of markets) {
    await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
    const taken = await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 500 });
    expect(taken.body.status).toBe('FILLED');
  }
  return alice;
}

/** Collateral that a command left on its way when it ended. */
async function leaveOnTheWay(redis: WebReplicas['store']['redis']): Promise<void> {
  const channels = createChannels({ redis, run: createScripts(redis, scriptSources()), shards });
  const wallet = addressBytes(walletWithHome(1, SHARDS));
  await channels.send({
    from: 1,
    to: 3,
    wallet,
    needMicro: 1_000_000,
    token: '',
    home: { grantMicro: 100_000_000 },
  });
}

beforeAll(async () => {
  target = await startTestRedis();
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-shards-backup-'));
  file = path.join(folder, 'four.backup');
  exchange = await startWebReplicas({ replicas: 0, env: ENV });
  [from, to] = [createShell(exchange.redis.url, ENV), createShell(target.url, ENV)];
  const { client } = await exchange.replicaProcess();
  markets = [];
  for (let shard = 0; shard < SHARDS; shard++)
    markets.push(await openMarket(client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard }));
  await trade(client);
});
afterAll(async () => {
  await exchange?.stop();
  await target?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a copy needs every shard HALTED', async () => {
  await from.exchange('mode', 'HALTED');
  const { redis } = exchange.store;
  await redis.set(createKeys(2).mode, '0');
  const refused = await from.exchange('backup', file);
  expect(refused).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^error: HALTED: .*\(not yet in shard 2\)/),
  });
  expect(readdirSync(folder)).toEqual([]);
  await from.exchange('mode', 'NORMAL');
});

test('one file has all shards, and the exchange that is made of it is the same and trades on', async () => {
  const { redis } = exchange.store;
  await leaveOnTheWay(redis);
  expect((await checkChannels({ redis, shards })).inTransitMicro).toBeGreaterThan(0n);
  await from.exchange('mode', 'HALTED');
  const copied = await from.json('backup', file);
  expect(copied).toMatchObject({ shards: SHARDS, archives: [null, null, null, null] });
  expect((await checkChannels({ redis, shards })).inTransitMicro).toBe(0n);
  expect((await to.exchange('restore', file, '--verify-only')).out).toMatch(/is whole: \d+ keys/);
  const restored = await to.exchange('restore', file, '--yes');
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).toMatch(/keys restored; the exchange is HALTED\nok: \d+ orders/);
  expect(await contents(target.url)).toEqual(await contents(exchange.redis.url));

  expect((await to.exchange('mode', 'NORMAL')).code).toBe(0);
  const web = await startReplica({ REDIS_URL: target.url, ...ENV });
  try {
    const trader = await trade(web.client);
    expect((await trader.get('/me/orders?status=open')).body.data).toHaveLength(SHARDS);
    expect((await to.exchange('audit')).code).toBe(0);
  } finally {
    await web.stop();
  }
});

test('a file moves an exchange to a cluster and back', async () => {
  const cluster = await startTestCluster(3);
  try {
    const whole = async () =>
      Object.assign({}, ...(await Promise.all(cluster.nodes.map(({ url }) => contents(url)))));
    const shell = createShell(cluster.url, ENV);
    expect(await shell.exchange('restore', file, '--yes')).toMatchObject({ code: 0, err: '' });
    expect(await whole()).toEqual(await contents(exchange.redis.url));
    const again = path.join(folder, 'cluster.backup');
    expect((await shell.exchange('backup', again)).code).toBe(0);
    const shards = await Promise.all(
      cluster.nodes.map(async ({ url }) => Object.keys(await contents(url)).length),
    );
    expect(Math.min(...shards)).toBeGreaterThan(0);
    expect((await shell.exchange('restore', again, '--force', '--yes')).code).toBe(0);
    expect(await whole()).toEqual(await contents(exchange.redis.url));
  } finally {
    await cluster.stop();
  }
});

test('a file is put back only into as many shards as it is of', async () => {
  const other = createShell(target.url, { PAPER_GRANT: '100' });
  const wrong = await other.exchange('restore', file, '--force', '--yes');
  expect(wrong).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringContaining(
      'is of an exchange with SHARDS=4, and SHARDS is 1 here: restore it with SHARDS=4',
    ),
  });
  const single = await startTestRedis();
  try {
    const one = createShell(single.url);
    await one.exchange('markets', 'create', 'Of one shard?');
    const old = path.join(folder, 'one.backup');
    expect(await one.json('backup', old, '--halt')).not.toHaveProperty('shards');
    expect((await to.exchange('restore', old, '--force', '--yes')).err).toContain('restore it with SHARDS=1');
    // Otherwise the keys of three shards would stay.
    expect((await other.exchange('restore', old, '--force', '--yes')).err).toContain(
      'holds an exchange with SHARDS=4, and the backup has 1',
    );
    const four = await createShell(single.url, ENV).exchange('restore', file, '--force', '--yes');
    expect(four.err).toContain('holds an exchange with SHARDS=1, and the backup has 4');
    expect((await one.exchange('audit')).code).toBe(0);
  } finally {
    await single.stop();
  }
});

test('a restore that ends in the middle leaves every shard HALTED with the reason, and can be repeated', async () => {
  const redis = new Redis(target.url);
  try {
    const everything = ['~{x[^3]*', '~{x3.174}:[^m]*', '~{x3.174}:mode', '~{x3.174}:mk', '~{x3.174}:ml'];
    await redis.acl('SETUSER', 'some', 'on', '>some', '+@all', '&*', ...everything);
    await redis.flushall();
    const url = target.url.replace('redis://', 'redis://some:some@');
    const broken = await createShell(url, ENV).exchange('restore', file, '--yes');
    expect(broken).toMatchObject({ code: 4, err: expect.stringMatching(/permissions/) });
    // Most of it is there.
    expect(await redis.dbsize()).toBeGreaterThan(20);
    for (const { mode, notice } of shards)
      expect(await redis.mget(mode, notice)).toEqual([
        '2',
        expect.stringMatching(/^2a restore of the backup of /),
      ]);
    const { checks } = await to.json('doctor');
    for (const shard of shards.keys())
      expect(checks).toContainEqual(expect.objectContaining({ name: `restore-${shard}`, verdict: 'fail' }));
    const web = await startReplica({ REDIS_URL: target.url, ...ENV });
    try {
      expect((await web.client.get('/config')).body).toMatchObject({
        mode: 'HALTED',
        message: expect.stringContaining('restore it again with --force'),
      });
      const trader = createTrader(web.client, await domainOf(web.client));
      const order = await trader.submit(markets[0] as Market, {
        side: 'BUY',
        outcome: 0,
        pips: 5_000,
        lots: 100,
      });
      expect(order).toMatchObject({ body: { code: 'HALTED' } });
    } finally {
      await web.stop();
    }
    expect((await to.exchange('restore', file, '--force', '--yes')).code).toBe(0);
    expect(await contents(target.url)).toEqual(await contents(exchange.redis.url));
  } finally {
    redis.disconnect();
  }
});
