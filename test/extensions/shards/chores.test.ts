import { createShardChores } from '../../../src/extensions/shards/jobs/chores';
import { createDirectory } from '../../../src/extensions/shards/store/directory';
import { createListing } from '../../../src/extensions/shards/store/markets';
import { createShardModes } from '../../../src/extensions/shards/store/shard-modes';
import { createTransfers } from '../../../src/extensions/shards/store/transfers';
import type { RunningRedis } from '../../../src/local/redis';
import { createMarkets } from '../../../src/store/markets/markets';
import { addressBytes } from '../../../src/store/records/order';
import { holderOf, nameOf } from '../../../src/store/redis/holder';
import { createKeys, type Keys } from '../../../src/store/redis/keys';
import type { Engine } from '../../../src/store/verbs/engine';
import { startTestCluster, startTestRedis, type TestCluster } from '../../support/redis';
import { until } from '../../support/waiting';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './store/world';

const SHARDS = 4;
const CANCEL_ONLY = '1';

/** A process that creates markets with these engines of the shards. */
const listingOf = ({ redis, run, shards }: ShardWorld, engines: readonly Pick<Engine, 'createMarket'>[]) =>
  createListing({
    redis,
    run,
    directory: createDirectory({ redis, keys: createKeys(), count: SHARDS }),
    shards: shards.map((keys, shard) => ({ keys, engine: engines[shard] as Pick<Engine, 'createMarket'> })),
  });

/** The chores of a worker, and the channels that they found broken. */
function choresIn(world: ShardWorld) {
  const { redis, channels, shards, exchange } = world;
  const broken: string[] = [];
  const chores = createShardChores({
    finishTransfers: createTransfers({ redis, channels, shards, olderThanMs: 0 }).finish,
    enforceMode: createShardModes({ redis, shards, parts: exchange.parts }).enforceMode,
    finishMarkets: listingOf(world, exchange.parts).finish,
    onBroken: (from, to) => broken.push(`${from} to ${to}`),
  });
  const run = async (name: string): Promise<void> => {
    const chore = chores.find((one) => one.name === name);
    if (!chore) throw new Error(`there is no chore ${name}`);
    await chore.run();
  };
  return { run, broken };
}
const send = ({ channels }: ShardWorld, from: number, to: number) =>
  channels.send({
    from,
    to,
    needMicro: 1,
    token: '',
    home: { grantMicro: GRANT },
    wallet: addressBytes(walletWithHome(from, SHARDS)),
  });
const modes = ({ redis, shards }: ShardWorld) => Promise.all(shards.map(({ mode }) => redis.get(mode)));

describe('on one Redis', () => {
  let server: RunningRedis;
  let w: ShardWorld;
  beforeAll(async () => {
    server = await startTestRedis();
    w = await openShardWorld({ urls: [server.url], count: SHARDS });
  });
  afterAll(async () => {
    w.stop();
    await server.stop();
  });

  test('collateral on its way arrives, and each look counts a channel that lost some', async () => {
    const { run, broken } = choresIn(w);
    await send(w, 0, 1);
    expect(await w.inTransit()).toBeGreaterThan(0n);
    await run('finish-transfers');
    expect([await w.inTransit(), broken]).toEqual([0n, []]);
    const channel = (w.shards[0] as Keys).channel(1);
    const [last] = await w.redis.xrevrange(channel, '+', '-', 'COUNT', 1);
    await w.redis.xdel(channel, last?.[0] ?? '');
    await send(w, 2, 3);
    await run('finish-transfers');
    await run('finish-transfers');
    expect(broken).toEqual(['0 to 1', '0 to 1']);
    expect(await w.redis.hget((w.shards[3] as Keys).sums, 'got:2')).toBe('50000000');
  });

  test('a market that was claimed and not created appears', async () => {
    const { run } = choresIn(w);
    const dying = w.shards.map(() => ({ createMarket: () => Promise.reject(new Error('killed')) }));
    const markets = createMarkets({
      engine: { ...(w.exchange.parts[0] as Engine), createMarket: listingOf(w, dying).createMarket },
      clock: { now: Date.now, observe: () => undefined },
      ctfIds: (_, questionId) => ({ conditionId: questionId, tokenIds: ['1', '2'] }),
      defaultOracle: '0x00',
      partitions: SHARDS,
    });
    await expect(markets.create({ question: 'Is it finished?', slug: 'is-it-finished' })).rejects.toThrow(
      'killed',
    );
    const listed = () => w.redis.lrange((w.shards[0] as Keys).allMarkets, 0, -1);
    expect(await listed()).toEqual([]);
    await run('finish-markets');
    const [id = ''] = await listed();
    const shard = Number(await w.redis.hget((w.shards[0] as Keys).marketShards, id));
    expect(await w.redis.hexists((w.shards[shard] as Keys).markets, id)).toBe(1);
  });

  test('a shard that missed the mode gets it', async () => {
    const { run } = choresIn(w);
    await w.exchange.setMode('CANCEL_ONLY', 'we move');
    await w.redis.del((w.shards[2] as Keys).mode, (w.shards[2] as Keys).notice);
    await run('enforce-mode');
    expect(await modes(w)).toEqual(Array.from({ length: SHARDS }, () => CANCEL_ONLY));
  });
});

describe('on a cluster with a master that does not answer', () => {
  let cluster: TestCluster;
  let w: ShardWorld;
  beforeAll(async () => {
    cluster = await startTestCluster(3);
    w = await openShardWorld({ urls: cluster.url.split(','), count: SHARDS });
  });
  afterAll(async () => {
    w.stop();
    await cluster.stop();
  });

  test('the shards of the other masters get their collateral and the mode, and the silent one when it is back', async () => {
    const { run } = choresIn(w);
    const silent = 2;
    await send(w, 0, silent);
    await send(w, 1, 3);
    const name = nameOf(holderOf(w.redis, w.shards[silent] as Keys));
    const node = cluster.nodes.find(({ port }) => name.endsWith(`:${port}`));
    process.kill(node?.pid ?? 0, 'SIGSTOP');
    try {
      await expect(run('finish-transfers')).rejects.toThrow(
        /^shard 2: .*; the channels of the other shards are done$/,
      );
      expect(await w.redis.hget((w.shards[3] as Keys).sums, 'got:1')).toBe('50000000');
      await expect(w.exchange.setMode('CANCEL_ONLY')).rejects.toThrow('silent (2)');
      await expect(run('enforce-mode')).rejects.toThrow('shards without an answer: 2');
    } finally {
      process.kill(node?.pid ?? 0, 'SIGCONT');
    }
    const goesOn = (chore: string) => () =>
      run(chore).then(
        () => true,
        () => false,
      );
    await until('the mode is everywhere', goesOn('enforce-mode'));
    expect(await modes(w)).toEqual(Array.from({ length: SHARDS }, () => CANCEL_ONLY));
    await until('the transfers are done', goesOn('finish-transfers'));
    expect(await w.inTransit()).toBe(0n);
  });
});
