import type { Cluster } from 'ioredis';
import { createChannels, type SendReply } from '../../../../src/extensions/shards/store/channels';
import { placeOf, slotOf } from '../../../../src/store/redis/holder';
import type { Keys } from '../../../../src/store/redis/keys';
import type { RunScript } from '../../../../src/store/redis/scripts';
import { startDurableCluster } from '../../../support/durable-cluster';
import { startTestCluster, type TestCluster } from '../../../support/redis';
import { startShuttle } from '../../../support/slots';
import { until } from '../../../support/waiting';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/**
 * The client of a cluster keeps one entry for all slots of a node. After one of them has moved, each MOVED for another names the
 * former node for all of them again, so a transfer may look at a node at which it has not run.
 */
const LIMIT_MS = 60_000;
const [DONOR, TARGET] = [0, 1];
const alice = Buffer.from(walletWithHome(DONOR, 4).slice(2), 'hex');
let cluster: TestCluster;
let w: ShardWorld;
beforeAll(async () => {
  cluster = await startTestCluster(3);
  w = await openShardWorld({ urls: cluster.url.split(','), count: 4 });
}, LIMIT_MS);
afterAll(async () => {
  w?.stop();
  await cluster?.stop();
});

test(
  'collateral is not taken at once when another node than its sender was asked for the replicas',
  async () => {
    const { redis, shards } = w;
    const keys = shards[DONOR] as Keys;
    const slot = slotOf(keys);
    const former = placeOf(redis, keys) as string;
    const slots = (redis as Cluster).slots;
    const namesFormer = (): void => {
      slots[slot] = [former];
    };
    /** As another command does whose slot has not moved. */
    const run = (async (...args: Parameters<RunScript>) => {
      const reply = await w.run(...args);
      namesFormer();
      return reply;
    }) as RunScript;
    const channels = createChannels({ redis, run, shards });
    const send = () =>
      channels.send({
        from: DONOR,
        to: TARGET,
        wallet: alice,
        needMicro: 10_000_000,
        token: '',
        home: { grantMicro: GRANT },
      });
    expect(await send()).toMatchObject({ code: 'OK', entry: [expect.any(Buffer), expect.any(Buffer)] });
    const shuttle = await startShuttle(cluster, keys.cash, 0, 1);
    await until('the slot has moved', async () => shuttle.moves() === 1);
    await shuttle.stop();
    namesFormer();
    expect(await send()).toMatchObject({ code: 'OK', entry: null });
  },
  LIMIT_MS,
);

test(
  'a replica that is away is not forgotten because the client names another node for a moment',
  async () => {
    const replicated = await startDurableCluster({ masters: 3, hasReplicas: true });
    const world = await openShardWorld({ urls: replicated.url.split(','), count: 4 });
    try {
      const keys = world.shards[DONOR] as Keys;
      const place = placeOf(world.redis, keys) as string;
      const at = replicated.masters.findIndex(({ port }) => place.endsWith(`:${port}`));
      const [master, replica] = [replicated.masters[at], replicated.replicas[at]] as const;
      if (!master || !replica) throw new Error('the shard has no replica');
      const send = (): Promise<SendReply> =>
        world.channels.send({
          from: DONOR,
          to: TARGET,
          wallet: alice,
          needMicro: 1_000_000,
          token: '',
          home: { grantMicro: GRANT },
        });
      await until('the replica confirms', async () => isSafe(await send()));
      process.kill(replica.pid, 'SIGSTOP');
      await master.ask('CLIENT KILL TYPE replica');
      await until(
        'its link is down',
        async () => !(await master.ask('INFO replication')).includes('slave0:'),
      );
      expect(isSafe(await send())).toBe(false);
      // As a MOVED for another slot of the same node does.
      const other = replicated.masters[(at + 1) % replicated.masters.length];
      (world.redis as Cluster).slots[slotOf(keys)] = [`127.0.0.1:${other?.port}`];
      expect([isSafe(await send()), isSafe(await send())]).toEqual([false, false]);
    } finally {
      world.stop();
      await replicated.stop();
    }
  },
  LIMIT_MS,
);

const isSafe = (sent: SendReply): boolean => sent.code === 'OK' && sent.entry !== null;
