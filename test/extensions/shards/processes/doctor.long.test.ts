import { Redis } from 'ioredis';
import { startWeb, type Web } from '../../../../src/app/web';
import { loadConfig } from '../../../../src/config/load';
import { createChannels } from '../../../../src/extensions/shards/store/channels';
import { createLogger } from '../../../../src/log';
import { type Check, clocks } from '../../../../src/store/health/doctor';
import { noteRun, TIMED } from '../../../../src/store/health/runs';
import { addressBytes } from '../../../../src/store/records/order';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { slotOf } from '../../../../src/store/redis/holder';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts, type RedisClient, scriptSources } from '../../../../src/store/redis/scripts';
import { createShell, type Said } from '../../../cli/shell';
import { createRedisClock } from '../../../faults/redis-clock';
import { createClient } from '../../../support/client';
import { startTestCluster, startTestRedis, type TestCluster } from '../../../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { openMarket } from '../../../support/trader';
import { READY_MS } from '../../../support/waiting';
import { walletWithHome } from '../store/world';

/** The doctor of an exchange of four shards on a cluster of three masters. */
const SHARDS = 4;
const ENV = { SHARDS: String(SHARDS) };
const PRODUCTION = {
  ...ENV,
  NODE_ENV: 'production',
  JWT_SECRET: ENVIRONMENT.JWT_SECRET,
  PUBLIC_BASE_URL: ENVIRONMENT.PUBLIC_BASE_URL,
  TRUST_PROXY: '1',
};
const shards = Array.from({ length: SHARDS }, (_, k) => createKeys(k));
const LONG_AGO_MS = 3_600_000;
const clock = createRedisClock();
let cluster: TestCluster;
let redis: RedisClient;
let nodes: Redis[];
let web: Web;

beforeAll(async () => {
  cluster = await startTestCluster(3, { appendonly: 'always', settings: [['maxmemory', '1gb']] });
  redis = connect({ urls: cluster.nodes.map(({ url }) => url) });
  await ready(redis, READY_MS);
  nodes = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  const config = loadConfig({ ...ENVIRONMENT, ...ENV, PORT: '0', REDIS_URL: cluster.url });
  web = await startWeb(config, createLogger(config, 'web', { write: () => undefined }));
  const client = createClient(`http://127.0.0.1:${web.port}`);
  for (let shard = 0; shard < SHARDS; shard++)
    await openMarket(client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard, minOrderSize: '1' });
  for (const command of TIMED) await noteRun({ redis, keys: createKeys() }, command, true, Date.now());
});
afterAll(async () => {
  clock?.remove();
  await web?.stop(1_000);
  for (const node of nodes ?? []) node.disconnect();
  if (redis) disconnect(redis);
  await cluster?.stop();
});

const doctor = (env = {}): Promise<Said> => createShell(cluster.url, { ...ENV, ...env }).exchange('doctor');
async function checks(env = {}): Promise<readonly Check[]> {
  return (await createShell(cluster.url, { ...ENV, ...env }).json('doctor')).checks;
}
/** Those that are not fine, but for what a busy machine does to round trips, and for a test that has no worker. */
const wrongOf = (all: readonly Check[]): string[] =>
  all
    .filter(({ name, verdict }) => verdict !== 'ok' && !/^(round trip|clock|outbox|worker)/.test(name))
    .map(({ name, verdict }) => `${verdict} ${name}`);
/** The node that has a shard, by the division of the slots. */
const holderOf = (shard: number): number =>
  Math.floor((slotOf(shards[shard] ?? createKeys()) * cluster.nodes.length) / 16_384);
const nodeName = (node: number): string => `127.0.0.1:${cluster.nodes[node]?.port}`;

test('each master with a shard is looked at, and each shard, the channels and the clocks', async () => {
  const all = await checks(PRODUCTION);
  const holders = [...new Set(shards.map((_, shard) => nodeName(holderOf(shard))))];
  // These masters have no replica, which is a warning in production.
  expect(wrongOf(await checks())).toEqual([]);
  expect(wrongOf(all).sort()).toEqual(holders.map((name) => `warn role ${name}`).sort());
  const names = all.map(({ name }) => name);
  for (const node of new Set(shards.map((_, shard) => holderOf(shard))))
    for (const name of ['durability', 'eviction', 'memory', 'clock'])
      expect(names).toContain(`${name} ${nodeName(node)}`);
  const said = Object.fromEntries(all.map(({ name, detail }) => [name, detail]));
  expect(said).toMatchObject({
    shards: '4',
    mode: 'NORMAL',
    scripts: 'all 4 shards: those of this version run',
    layout: expect.stringMatching(
      /^shard 0: the data has layout \d+, .*; shards 1, 2, 3: the data has layout/,
    ),
    clocks: expect.stringMatching(/, the most of 3 masters$/),
    channels: '0 channels were used, 0 is on its way',
    'account logs': 'no wallet listens',
  });
  for (const [shard] of shards.entries())
    expect(said.slots).toMatch(new RegExp(`${nodeName(holderOf(shard))} has [^;]*\\b${shard}\\b`));
});

test('SHARDS that is not the number of the exchange fails', async () => {
  const { code, out } = await doctor({ SHARDS: '1' });
  expect([code, out]).toEqual([1, expect.stringMatching(/^fail +shards +SHARDS must be 4/m)]);
});

test('one master with weak settings is named', async () => {
  const at = holderOf(2);
  const node = nodes[at] as Redis;
  await node.config('SET', 'appendfsync', 'everysec');
  try {
    expect(wrongOf(await checks())).toEqual([`warn durability ${nodeName(at)}`]);
    const { code, out } = await doctor(PRODUCTION);
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^fail +durability ${nodeName(at)} `, 'm')),
    ]);
  } finally {
    await node.config('SET', 'appendfsync', 'always');
  }
});

test('a shard with another mode, another layout or an unfinished restore is named', async () => {
  const [, second, third] = shards;
  if (!second || !third) throw new Error('no shards');
  await redis.set(second.mode, '2');
  await redis.hset(third.layout, 'oldest', 99);
  await redis.set(third.restoring, 'yesterday');
  try {
    const all = await checks();
    expect(wrongOf(all)).toEqual(['fail layout-2', 'fail restore-2', 'warn mode-1']);
    const layout = all.find(({ name }) => name === 'layout');
    expect(layout?.detail).toMatch(/^shard 0: .*; shards 1, 3: /);
  } finally {
    await redis.del(second.mode);
    await redis.hdel(third.layout, 'oldest');
    await redis.del(third.restoring);
  }
});

test('a moving slot is that of its shard', async () => {
  const slot = slotOf(shards[3] ?? createKeys());
  const at = holderOf(3);
  const to = (at + 1) % nodes.length;
  const node = nodes[at] as Redis;
  await node.cluster('SETSLOT', slot, 'MIGRATING', (await nodes[to]?.cluster('MYID')) as string);
  const all = await checks();
  await node.cluster('SETSLOT', slot, 'STABLE');
  expect(wrongOf(all)).toContain('fail slot of shard 3');
  expect(wrongOf(await checks())).toEqual([]);
});

test('collateral that stays on its way and a channel that lost entries are named', async () => {
  const [home, other] = shards;
  if (!home || !other) throw new Error('no shards');
  const channels = createChannels({ redis, run: createScripts(redis, scriptSources()), shards });
  const wallet = addressBytes(walletWithHome(0, SHARDS));
  const terms = { from: 0, to: 1, wallet, needMicro: 1_000_000, token: '' };
  await channels.send({ ...terms, home: { grantMicro: 8_000_000 } });
  // It was just sent, and a worker would take it.
  expect(wrongOf(await checks())).toEqual([]);
  const [entry] = await redis.xrangeBuffer(home.channel(1), '-', '+');
  await redis.del(home.channel(1));
  const longAgo = `${Date.now() - LONG_AGO_MS}-0`;
  await redis.xadd(home.channel(1), longAgo, 'e', entry?.[1][1] as Buffer);
  const told = await checks();
  expect(told.find(({ name }) => name === 'channels')).toMatchObject({
    verdict: 'warn',
    detail: expect.stringMatching(/^1 channels were used, 4 is on its way, from shard 0 to 1 for 36\d\d s/),
  });
  await redis.hset(other.taken, '0', `${Date.now()}-0`);
  expect(wrongOf(await checks())).toContain('fail channels-0-1');
  await redis.del(other.taken);
  await redis.del(home.channel(1));
  await redis.hdel(home.sums, 'sent:1');
});

test('the logs of wallets at a home that lack what a shard wrote long ago are named', async () => {
  const [, other] = shards;
  const last = shards[3];
  if (!other || !last) throw new Error('no shards');
  // A web process that runs would bring the mark to its place.
  await web.stop(1_000);
  const [entry] = await redis.xrangeBuffer(last.outbox, '-', '+', 'COUNT', 1);
  await redis.del(last.outbox);
  await redis.xadd(last.outbox, `${Date.now() - LONG_AGO_MS}-0`, 'e', entry?.[1][1] as Buffer);
  await redis.hset(other.accountMarks, '3:logged', '1-0');
  const told = (await checks()).find(({ name }) => name === 'account logs');
  expect(told).toMatchObject({
    verdict: 'warn',
    detail: expect.stringMatching(/^home 1 lacks what shard 3 wrote 36\d\d s ago: does a web process run/),
  });
  await redis.del(other.accountMarks);
});

(clock ? test : test.skip)(
  'clocks of two servers that differ are named (left out where there is no C compiler)',
  async () => {
    if (!clock) throw new Error('no clock');
    const shifted = await startTestRedis({ env: { ...process.env, ...clock.env } });
    const other = new Redis(shifted.url);
    const own = nodes[0] as Redis;
    try {
      const [even] = await clocks([own, other]);
      clock.set(1);
      const [apart] = await clocks([own, other]);
      clock.set(-60);
      const [far] = await clocks([other, own]);
      expect([even?.verdict, apart?.verdict, far?.verdict]).toEqual(['ok', 'warn', 'fail']);
      expect(far?.detail).toMatch(
        new RegExp(`^${nodeName(0)} is (59|60)\\d{3} ms ahead of 127.0.0.1:${shifted.port}, `),
      );
    } finally {
      other.disconnect();
      await shifted.stop();
    }
  },
);

test('a master that does not answer is a check that fails, and the others are looked at and left as they were', async () => {
  const at = holderOf(2);
  expect(at).not.toBe(holderOf(0));
  nodes[at]?.disconnect();
  const dead = cluster.nodes[at] as TestCluster['nodes'][0];
  process.kill(dead.pid, 'SIGKILL');
  await dead.exited;
  const { code, out } = await doctor();
  expect(code).toBe(1);
  expect(out).toMatch(new RegExp(`^fail +shard-2 +${nodeName(at)} does not answer: `, 'm'));
  expect(out).toMatch(/^warn +channels +not looked at/m);
  expect(out).toMatch(new RegExp(`^ok +durability ${nodeName(holderOf(0))} `, 'm'));
  expect(out).toMatch(/^ok +layout +shards? 0/m);

  const audit = await createShell(cluster.url, ENV).exchange('audit');
  expect([audit.code, audit.out]).toEqual([4, '']);
  expect(audit.err).toContain(`shard 2 at ${nodeName(at)} does not answer`);

  // The shards that answered were HALTED for a copy that cannot be made, and trade again.
  const copy = await createShell(cluster.url, ENV).exchange('backup', '/never/written', '--halt');
  expect(copy).toMatchObject({ code: 3, err: expect.stringMatching(/^error: UNAVAILABLE: .*silent \(2\)/) });
  for (const shard of [0, 1, 3])
    if (holderOf(shard) !== at) expect(await redis.get(shards[shard]?.mode ?? '')).toBe('0');
});
