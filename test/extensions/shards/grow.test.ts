import { createComments } from '../../../src/extensions/people/store/comments';
import { createProfiles } from '../../../src/extensions/people/store/profiles';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { createDirectory } from '../../../src/extensions/shards/store/directory';
import { type GrowOptions, type GrowStep, growShards } from '../../../src/extensions/shards/store/grow';
import { noteShards, otherShards, readShards } from '../../../src/extensions/shards/store/layout';
import { shardsIn } from '../../../src/extensions/shards/store/purse-in-shard';
import type { RunningRedis } from '../../../src/local/redis';
import { CASH } from '../../../src/store/records/layout';
import { addressBytes } from '../../../src/store/records/order';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { createKeys, type Keys } from '../../../src/store/redis/keys';
import {
  createScripts,
  type RedisClient,
  type RunScript,
  scriptSources,
} from '../../../src/store/redis/scripts';
import { homeOf } from '../../../src/store/redis/tags';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { startTestCluster, startTestRedis } from '../../support/redis';
import { READY_MS } from '../../support/waiting';
import { differencesOf, openShardWorld, walletWithHome } from './store/world';

/** An exchange that gets more shards, and every place at which that can be interrupted. */
let server: RunningRedis;
let redis: RedisClient;
let run: RunScript;
const keysOf = (count: number): Keys[] => Array.from({ length: count }, (_, k) => createKeys(k));
const grow = (to: number, more: Partial<GrowOptions> = {}) =>
  growShards({ redis, run, shards: keysOf(to), patienceMs: 0, lookMs: 0, ...more });
const halt = (count: number) => Promise.all(keysOf(count).map(({ mode }) => redis.set(mode, '2')));

beforeAll(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  run = createScripts(redis, scriptSources());
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  disconnect(redis);
  await server.stop();
});

/** One shard with markets, orders, matches and journals, a wallet with a nonce and a faucet, and one that only signed in. */
async function openOne(): Promise<Auditing & { readonly visitor: string; readonly raised: string }> {
  await noteShards({ redis, run }, keysOf(1));
  const one = openAuditing(server.url);
  await one.liveMarket(30);
  await one.endedMarket(0);
  await createJournal({ ...one, doubts: () => 0 }).catchUp();
  const [visitor, raised] = [walletWithHome(3, 4), walletWithHome(2, 4)];
  await one.engine.raiseNonce(raised, 'first');
  await one.engine.credit(raised, 7_000_000 as never);
  await one.redis.hset(one.keys.profile(addressBytes(visitor)), 'j', '1234');
  expect((await one.audit()).differences).toEqual([]);
  return { ...one, visitor, raised };
}

const differences = (count: number) => differencesOf({ redis, run, shards: keysOf(count) });
const cashOf = async (shard: number, address: string) => {
  const packed = await redis.hgetBuffer(createKeys(shard).cash, addressBytes(address));
  return packed && CASH.read(packed);
};

test('the homes of wallets move, and nothing else does', async () => {
  const one = await openOne();
  await halt(1);
  const granted = await redis.hget(one.keys.sums, 'granted');
  const wallets = [...one.wallets, one.raised].filter((address) => homeOf(addressBytes(address), 4) > 0);
  const accounts = (await redis.hkeysBuffer(one.keys.cash)).filter(({ length }) => length === 20);
  const moving = accounts.filter((wallet) => homeOf(wallet, 4) > 0);
  expect(await grow(4)).toEqual({ from: 1, to: 4, moved: moving.length });

  expect(await readShards(redis, one.keys)).toEqual({ count: 4, growing: null });
  expect((await noteShards({ redis, run }, keysOf(4))).count).toBe(4);
  expect(await differences(4)).toEqual([]);
  expect(await redis.hget(one.keys.sums, 'granted')).toBe(granted);
  for (const address of wallets) {
    const [home, before] = [homeOf(addressBytes(address), 4), await cashOf(0, address)];
    if (!before) continue;
    const { nonce, faucetMs } = before;
    expect(await cashOf(home, address)).toEqual({ freeMicro: 0, reservedMicro: 0, nonce, faucetMs });
    expect(
      shardsIn((await redis.hgetBuffer(createKeys(home).purses, addressBytes(address))) as Buffer),
    ).toEqual([0]);
  }
  expect(await cashOf(2, one.raised)).toMatchObject({ nonce: 1, faucetMs: expect.any(Number) });
  expect((await cashOf(2, one.raised))?.faucetMs).toBeGreaterThan(0);
  // A raise that is not through is the new home's to finish.
  expect(await redis.hgetBuffer(createKeys(2).raisedNonces, addressBytes(one.raised))).toEqual(
    Buffer.from('1'),
  );
  expect(await redis.hget(createKeys(3).profile(addressBytes(one.visitor)), 'j')).toBe('1234');

  const directory = createDirectory({ redis, keys: one.keys, count: 4 });
  const ids = await redis.lrange(one.keys.marketList, 0, -1);
  expect(await redis.lrange(one.keys.allMarkets, 0, -1)).toEqual(ids);
  expect(await redis.hgetall(one.keys.allNames)).toEqual(await redis.hgetall(one.keys.marketNames));
  for (const id of ids) expect(await directory.find(id)).toBe(0);
  for (const { mode } of keysOf(4)) expect(await redis.get(mode)).toBe('2');
  one.stop();
});

test('a muted wallet writes in no new shard, wherever its home is', async () => {
  const one = await openOne();
  const muted = [walletWithHome(0, 4), walletWithHome(1, 4), walletWithHome(3, 4)];
  const profiles = createProfiles(one);
  for (const address of muted) await profiles.moderate(address, { muted: true });
  one.stop();
  await halt(1);
  await grow(4);
  for (const keys of keysOf(4)) {
    const write = (address: string) =>
      createComments({ run, keys }).add('market00', address, 'words', 0, null);
    for (const address of muted) await expect(write(address)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect((await write(one.raised)).comment.body).toBe('words');
  }
});

test('a wallet gets no second grant, its nonce is that of its home, and its collateral follows', async () => {
  const [alice, bob] = [walletWithHome(3, 4), walletWithHome(3, 4, 1)];
  const one = await openShardWorld({ urls: [server.url], count: 1 });
  await one.reserve(0, alice, 20);
  await one.exchange.raiseNonce(alice, 'once');
  one.stop();
  await halt(1);
  await grow(4);
  await Promise.all(keysOf(4).map(({ mode }) => redis.set(mode, '0')));
  const four = await openShardWorld({ urls: [server.url], count: 4, isOpen: true });
  for (const id of four.ids.slice(1))
    await four.exchange.createMarket({ id, conditionId: `0x${id}`, slug: `slug-${id}` }, '{}', 'OPEN');
  const placed = (shard: number, maker: string, nonce: number, lots: number) =>
    four.exchange.place(four.order(shard, maker, 0, 0, 5_000, lots, { nonce }));
  // Of 100, 20 are reserved in the old shard.
  await expect(placed(2, alice, 0, 100)).rejects.toMatchObject({ code: 'INVALID_NONCE_VALUE' });
  await placed(2, alice, 1, 60 * 200);
  await expect(placed(1, alice, 1, 30 * 200)).rejects.toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    extra: { available: '20' },
  });
  // A wallet that is new gets its grant at its home.
  await placed(0, bob, 0, 100 * 200);
  expect(await four.exchange.collateral(bob)).toEqual({ freeMicro: 0, reservedMicro: 100_000_000 });
  expect(await four.exchange.collateral(alice)).toEqual({ freeMicro: 20_000_000, reservedMicro: 80_000_000 });
  await four.exchange.invalidateAll(alice, 1);
  expect(await four.exchange.collateral(alice)).toEqual({ freeMicro: 40_000_000, reservedMicro: 60_000_000 });
  expect(await four.differences()).toEqual([]);
  four.stop();
});

test('an exchange of several shards grows in the same way, also with collateral on its way', async () => {
  const two = await openShardWorld({ urls: [server.url], count: 2 });
  for (const { markets } of two.shards) await redis.rename(markets, `${markets}:kept`);
  await noteShards({ redis, run }, keysOf(2));
  for (const { markets } of two.shards) await redis.rename(`${markets}:kept`, markets);
  const wallets = Array.from({ length: 40 }, (_, i) => walletWithHome(i % 2, 2, Math.floor(i / 2)));
  for (const [i, wallet] of wallets.entries()) await two.reserve((i >> 1) % 2, wallet, 10);
  const [first] = wallets;
  const left = { from: 0, to: 1, wallet: addressBytes(first as string), needMicro: 5_000_000, token: '' };
  await two.channels.send({ ...left, home: { grantMicro: 0 } });
  two.stop();
  await halt(2);
  const sums = await Promise.all(keysOf(2).map(({ sums: key }) => redis.hgetall(key)));
  const moving = wallets.filter((address) => homeOf(addressBytes(address), 8) > 1);
  expect(await grow(8)).toEqual({ from: 2, to: 8, moved: moving.length });
  expect(await Promise.all(keysOf(2).map(({ sums: key }) => redis.hgetall(key)))).toEqual(sums);
  const eight = await openShardWorld({ urls: [server.url], count: 8, isOpen: true });
  expect(await eight.differences()).toEqual([]);
  expect(await eight.inTransit()).toBeGreaterThan(0n);
  await eight.transfers.finish();
  expect(await eight.inTransit()).toBe(0n);
  for (const wallet of wallets)
    expect(await eight.exchange.collateral(wallet)).toEqual({
      freeMicro: 90_000_000,
      reservedMicro: 10_000_000,
    });
  expect(await eight.differences()).toEqual([]);
  eight.stop();
});

const STEPS: readonly GrowStep[] = [
  ...(['prepare', 'begin', 'wait', 'shards', 'directory', 'homes', 'logs', 'confirm', 'end'] as const),
];

/** The content of every key but streams, sets and sorted sets. */
async function contents(): Promise<unknown> {
  const found: Record<string, unknown> = {};
  for (const key of await redis.keys('{x*}:*')) {
    const type = await redis.type(key);
    if (type === 'hash') found[key] = await redis.hgetall(key);
    else if (type === 'list') found[key] = await redis.lrange(key, 0, -1);
    else found[key] = type === 'string' ? await redis.get(key) : type;
  }
  return found;
}

test('after an interruption anywhere no process starts, and the same command ends it', async () => {
  const one = await openOne();
  await halt(1);
  one.stop();
  const saved = await Promise.all(
    (await redis.keysBuffer('*')).map(async (key) => [key, await redis.dumpBuffer(key)] as const),
  );
  const restore = async (): Promise<void> => {
    await redis.flushall();
    for (const [key, dump] of saved) await redis.restore(key, 0, dump as Buffer);
  };
  await grow(4);
  const whole = await contents();
  const broken = (): Promise<never> => Promise.reject(new Error('interrupted'));
  let scripts = 0;
  const stopsAt: Partial<GrowOptions>[] = [
    ...STEPS.map((step) => ({ onStep: async (at: GrowStep) => (at === step ? broken() : undefined) })),
    // Before and after each of its scripts.
    ...Array.from({ length: 12 }, (_, n) => ({
      run: (async (name, keys, args) => {
        if (n % 2 === 0 && scripts === n / 2) return broken();
        const reply = await run(name, keys, args);
        if (n % 2 === 1 && scripts === (n - 1) / 2) return broken();
        scripts++;
        return reply;
      }) as RunScript,
    })),
  ];
  let interrupted = 0;
  for (const stop of stopsAt) {
    await restore();
    scripts = 0;
    const ended = await grow(4, stop).then(
      () => true,
      () => false,
    );
    if (ended) continue;
    const noted = await readShards(redis, createKeys(0));
    if (noted.growing !== null) {
      interrupted++;
      for (const count of [1, 2, 4]) {
        expect(otherShards(count, await noteShards({ redis, run }, keysOf(count)))).toContain(
          'exchange shards grow --to 4',
        );
      }
      await expect(grow(1)).rejects.toThrow('getting 4 shards: end that first');
    }
    expect(await grow(4)).toMatchObject({ from: 1, to: 4 });
    expect(await contents()).toEqual(whole);
  }
  expect(interrupted).toBeGreaterThan(STEPS.length);
});

test('it is refused while the exchange trades, while a process is at work, and where there is data', async () => {
  const one = await openOne();
  one.stop();
  await expect(grow(4)).rejects.toThrow('need the mode HALTED, and shard 0 is in mode NORMAL');
  await halt(1);
  await redis.set(createKeys(0).relayLease, 'somebody');
  await expect(grow(4)).rejects.toThrow('processes are at work');
  await redis.del(createKeys(0).relayLease);
  await redis.hset(createKeys(2).cash, 'x', 'y');
  await expect(grow(4)).rejects.toThrow('this Redis holds data in shard 2');
  await redis.del(createKeys(2).cash);
  expect(await readShards(redis, createKeys(0))).toEqual({ count: 1, growing: null });
  await grow(4);
  expect(await grow(4)).toEqual({ from: 4, to: 4, moved: 0 });
  await expect(grow(2)).rejects.toThrow('the number never falls');
});

test('it is refused while a channel is broken', async () => {
  const two = await openShardWorld({ urls: [server.url], count: 2 });
  for (const { markets } of two.shards) await redis.rename(markets, `${markets}:kept`);
  await noteShards({ redis, run }, keysOf(2));
  for (const { markets } of two.shards) await redis.rename(`${markets}:kept`, markets);
  await two.reserve(1, walletWithHome(0, 2), 60);
  two.stop();
  await halt(2);
  await redis.xtrim(createKeys(0).channel(1), 'MAXLEN', 0);
  await expect(grow(4)).rejects.toThrow('a channel is broken: repair it first');
  expect(await readShards(redis, createKeys(0))).toEqual({ count: 2, growing: null });
});

test('the logs of private messages begin again, and say that something is missing', async () => {
  const one = await openOne();
  const { accountMarks } = one.keys;
  await redis.hset(accountMarks, { logged: '5-0', seen: '5' });
  await halt(1);
  await grow(2);
  expect(Object.keys(await redis.hgetall(accountMarks))).toEqual(['gap']);
  expect(await redis.pttl(accountMarks)).toBeGreaterThan(0);
  one.stop();
});

test('on a cluster the new shards are on other masters', async () => {
  const cluster = await startTestCluster(3);
  const urls = cluster.url.split(',');
  const wallets = Array.from({ length: 60 }, (_, i) => walletWithHome(i % 4, 4, Math.floor(i / 4)));
  try {
    const one = await openShardWorld({ urls, count: 1 });
    for (const wallet of wallets) await one.reserve(0, wallet, 10);
    await one.exchange.setMode('HALTED');
    const { redis: client, run: script } = one;
    expect(
      await growShards({ redis: client, run: script, shards: keysOf(4), patienceMs: 0, lookMs: 0 }),
    ).toEqual({ from: 1, to: 4, moved: 45 });
    one.stop();
    const four = await openShardWorld({ urls, count: 4, isOpen: true });
    await four.exchange.setMode('NORMAL');
    const [id] = four.ids.slice(2);
    await four.exchange.createMarket({ id: id as string, conditionId: '0x2', slug: 'two' }, '{}', 'OPEN');
    for (const wallet of wallets) await four.reserve(2, wallet, 90);
    for (const wallet of wallets)
      expect(await four.exchange.collateral(wallet)).toEqual({ freeMicro: 0, reservedMicro: 100_000_000 });
    expect([await four.differences(), await four.inTransit()]).toEqual([[], 0n]);
    four.stop();
  } finally {
    await cluster.stop();
  }
});
