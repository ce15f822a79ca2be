import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checksumAddress } from '../../../src/auth/address';
import { noteShards } from '../../../src/extensions/shards/store/layout';
import type { RunningRedis } from '../../../src/local/redis';
import { createActions } from '../../../src/store/people/operator-log';
import { createKeys } from '../../../src/store/redis/keys';
import { createShell } from '../../cli/shell';
import { startTestCluster, startTestRedis, type TestCluster } from '../../support/redis';
import { until } from '../../support/waiting';
import { openShardWorld, type ShardWorld, walletWithHome } from './store/world';

const SHARDS = 4;
const alice = walletWithHome(0, SHARDS);

/** Four shards: an order of Alice in the second, for which her home sent collateral. */
async function openFour(urls: readonly string[]): Promise<ShardWorld> {
  const world = await openShardWorld({ urls, count: SHARDS });
  // The number is noted before the first market of a real exchange.
  for (const { markets } of world.shards) await world.redis.rename(markets, `${markets}:kept`);
  await noteShards(world, world.shards);
  for (const { markets } of world.shards) await world.redis.rename(`${markets}:kept`, markets);
  await world.reserve(1, alice, 20);
  return world;
}

describe('on one server', () => {
  let server: RunningRedis;
  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(() => server.stop());

  test('an exchange of one shard has one row', async () => {
    const world = await openShardWorld({ urls: [server.url], count: 1 });
    await world.reserve(0, alice, 1);
    world.stop();
    const { code, out } = await createShell(server.url).exchange('shards', 'list');
    const host = server.url.replace('redis://', '');
    expect(code).toBe(0);
    expect(out.replace(/ +/g, ' ')).toBe(
      `SHARD TAG SLOT NODE STATE MARKETS OPEN ORDERS ACCOUNTS MODE EPOCH\n0 {x0} 14243 ${host} up 1 1 1 NORMAL none\n`,
    );
  });

  test('several shards have a row each, and so have the channels that were used', async () => {
    const world = await openFour([server.url]);
    await world.channels.send({
      from: 1,
      to: 2,
      wallet: Buffer.from(alice.slice(2), 'hex'),
      needMicro: 1_000_000,
      token: '',
      home: { nonce: 0 },
    });
    const shell = createShell(server.url, { SHARDS: String(SHARDS) });
    const { shards, channels } = await shell.json('shards', 'list');
    expect(shards).toMatchObject([
      { shard: 0, tag: 'x0', slot: 14_243, status: 'up', markets: 1, openOrders: 0, accounts: 1 },
      { shard: 1, tag: 'x1.43', slot: 5_968, status: 'up', markets: 1, openOrders: 1, accounts: 1 },
      { shard: 2, markets: 1, openOrders: 0, accounts: 0, mode: 'NORMAL' },
      { shard: 3 },
    ]);
    expect(channels).toEqual([
      { from: 0, to: 1, inTransit: '0', broken: false },
      { from: 1, to: 2, inTransit: '10', broken: false },
    ]);

    await world.redis.xtrim(createKeys(0).channel(1), 'MAXLEN', 0);
    const broken = await shell.exchange('shards', 'list');
    expect(broken.out).toMatch(/^0 to 1 +0 +BROKEN: shard 0 lost what shard 1 took$/m);
    expect(broken.out).toMatch(/^1 to 2 +10 +whole$/m);
    expect((await shell.exchange('shards', 'repair')).code).toBe(2);
    const early = await shell.exchange('shards', 'repair', '--yes');
    expect(early).toMatchObject({ code: 3, err: expect.stringContaining('needs the mode HALTED') });
    // The number of shards is that of the data: the wrong SHARDS shows the same.
    expect((await createShell(server.url).json('shards', 'list')).shards).toHaveLength(SHARDS);
    world.stop();
  });
});

describe('a channel that is broken', () => {
  let server: RunningRedis;
  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(() => server.stop());

  test('is repaired, with a line of who paid, and a record for the operators', async () => {
    const world = await openFour([server.url]);
    const { prefix } = createKeys(0);
    const names = await world.redis.keysBuffer(`${prefix}*`);
    const kept = await Promise.all(
      names.map(async (key) => [key, await world.redis.dumpBuffer(key)] as const),
    );
    await world.reserve(1, alice, 60);
    for (const key of await world.redis.keysBuffer(`${prefix}*`)) await world.redis.del(key);
    // The hold of a purse is deleted after the answer, and may be gone by the time it is read.
    for (const [key, dump] of kept) if (dump) await world.redis.restore(key, 0, dump);
    const shell = createShell(server.url, { SHARDS: String(SHARDS) });
    await shell.exchange('mode', 'HALTED');
    expect((await shell.exchange('shards', 'list')).out).toMatch(/^0 to 1 .*BROKEN/m);
    const { code, out } = await shell.exchange('shards', 'repair', '--yes');
    expect(code).toBe(0);
    expect(out.replace(/ +/g, ' ')).toBe(
      `HAD IT TWICE AMOUNT PAID BY\n${checksumAddress(alice)} 40 the wallet in shard 0\nchannel 0 to 1: whole\n`,
    );
    expect(await world.differences()).toEqual([]);
    expect((await shell.exchange('shards', 'repair', '--yes')).out).toBe('no channel is broken\n');
    expect(await shell.json('shards', 'repair', '--yes')).toEqual({
      channels: [],
      payments: [],
      missing: [],
    });
    const { actions } = await createActions({ ...world, keys: createKeys(0) }).list({
      limit: 9,
      cursor: null,
    });
    expect(actions).toContainEqual(expect.objectContaining({ action: 'shards repair', status: 200 }));
    world.stop();
  });
});

describe('on a cluster', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster(2);
  });
  afterAll(() => cluster.stop());

  test('a shard that does not answer is a row that says so', async () => {
    const world = await openFour(cluster.url.split(','));
    world.stop();
    const shell = createShell(cluster.url, { SHARDS: String(SHARDS) });
    const before = await shell.json('shards', 'list');
    const nodes = before.shards.map(({ node }: { node: string }) => node);
    expect(new Set(nodes).size).toBe(2);
    const away = cluster.nodes.find(({ url }) => url.endsWith(nodes[1])) as RunningRedis;
    await away.stop();
    let rows: readonly Readonly<Record<string, unknown>>[] = [];
    await until('the shards of the other master are shown', async () => {
      rows = await shell.json('shards', 'list').then(
        ({ shards }) => shards,
        () => [],
      );
      return rows.length === SHARDS;
    });
    for (const [shard, { status, node, problem, markets }] of rows.entries()) {
      if (nodes[shard] !== nodes[1])
        expect({ status, node, markets }).toEqual({ status: 'up', node, markets: 1 });
      else
        expect({ status, node, problem, markets }).toEqual({
          status: 'down',
          node: nodes[1],
          problem: expect.any(String),
          markets: undefined,
        });
    }
    const file = path.join(tmpdir(), `no-backup-${process.pid}`);
    const { err } = await shell.exchange('backup', file, '--halt');
    const silent = nodes.flatMap((node: string, shard: number) => (node === nodes[1] ? [shard] : []));
    expect(err).toContain(
      `no backup was made, and the mode is as before, while shards are silent (${silent.join(', ')}); run it again once they answer`,
    );
    expect(existsSync(file)).toBe(false);
    const after = (await shell.json('shards', 'list')).shards as { mode?: string }[];
    expect(new Set(after.flatMap(({ mode }) => mode ?? []))).toEqual(new Set(['NORMAL']));
  });
});
