import type { Redis } from 'ioredis';
import { Refusal } from '../../../../src/exchange/errors';
import { isRedisUnreachable } from '../../../../src/store/redis/unreachable';
import {
  type DurableCluster,
  type DurableNode,
  inStep,
  isMaster,
  startDurableCluster,
} from '../../../support/durable-cluster';
import { eventually, until } from '../../../support/waiting';
import { openShardWorld, type ShardWorld, walletWithHome } from '../store/world';
import { MASTER_OF, SHARDS } from './cluster-exchange';

/**
 * A sender whose replica has missed an entry of a channel dies, and the replica takes over. Nothing of that entry was taken, because a
 * transfer waits for the replica; without that the collateral is there twice.
 */
const LIMIT_MS = 300_000;
const DONOR = 0;
const TARGET = 1;

let cluster: DurableCluster;
let w: ShardWorld;
beforeEach(async () => {
  // The replica may be late, and takes over nevertheless.
  const settings = [['cluster-replica-validity-factor', '0'] as const];
  cluster = await startDurableCluster({ masters: SHARDS, hasReplicas: true, settings });
  w = await openShardWorld({ urls: cluster.url.split(','), count: SHARDS });
}, LIMIT_MS);
afterEach(async () => {
  w?.stop();
  await cluster?.stop();
});

const alice = walletWithHome(DONOR, SHARDS);
const at = (nodes: readonly DurableNode[]): DurableNode => nodes[MASTER_OF[DONOR]] as DurableNode;

const nodes = (): Redis[] => ('nodes' in w.redis ? w.redis.nodes('all') : []);

const answers = (): Promise<boolean> =>
  w.exchange.collateral(alice).then(
    () => true,
    () => false,
  );

/** Redis gives it up after 5 s when the master is slow, and then goes on as before. */
const handOver = (replica: DurableNode): Promise<void> =>
  until('the replica is the master', async () => {
    if (await isMaster(replica)) return true;
    await replica.ask('CLUSTER FAILOVER').catch(() => '');
    return false;
  });

/** Collateral is sent while the replica receives nothing, and then the replica takes over. Returns the answer to the order. */
async function takenOver(): Promise<string> {
  const [master, replica] = [at(cluster.masters), at(cluster.replicas)];
  await w.reserve(TARGET, alice, 10);
  process.kill(replica.pid, 'SIGSTOP');
  await master.ask('CLIENT KILL TYPE replica');
  const answer = await w.reserve(TARGET, alice, 60).then(
    () => 'BOOKED',
    (error) => error.code,
  );
  await master.kill();
  process.kill(replica.pid, 'SIGCONT');
  await until('the replica takes over', () => isMaster(replica), { explain: () => replica.folder });
  await until('the shard answers', answers);
  return answer;
}

test(
  'nothing is taken that the replica of the sender does not have',
  async () => {
    expect(await takenOver()).toBe('UNAVAILABLE');
    expect(await w.transfers.finish()).toMatchObject({ broken: [], failures: [] });
    expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 90_000_000, reservedMicro: 10_000_000 });
    await w.reserve(TARGET, alice, 60);
    expect(await w.differences()).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'when a transfer does not wait for the replica, the collateral is there twice, and the channel says so',
  async () => {
    for (const node of nodes()) {
      const call = node.call.bind(node) as (...command: unknown[]) => Promise<unknown>;
      // A master that has no replicas is not waited for.
      const planted = async (...command: unknown[]) =>
        command[0] === 'ROLE' ? ['master', 0, []] : call(...command);
      node.call = planted as typeof node.call;
    }
    expect(await takenOver()).toBe('BOOKED');
    expect((await w.transfers.finish()).broken).toEqual([[DONOR, TARGET]]);
    expect((await w.differences()).join()).toContain('LOST_ENTRIES');
  },
  LIMIT_MS,
);

test(
  'a sender that hands over to its replica before it confirms counts as away, and the order is booked when it is sent again',
  async () => {
    const [master, replica] = [at(cluster.masters), at(cluster.replicas)];
    let failed: unknown;
    for (const node of nodes()) {
      const wait = node.wait.bind(node);
      node.wait = async (...args: Parameters<typeof wait>) => {
        await handOver(replica);
        await until('the master follows', async () => !(await isMaster(master)));
        return wait(...args).catch((error) => {
          failed ??= error;
          throw error;
        });
      };
    }
    const error: unknown = await w.reserve(TARGET, alice, 60).catch((refused) => refused);
    expect(isRedisUnreachable(error) || error instanceof Refusal).toBe(true);
    expect(String(failed)).toContain('WAIT cannot be used with replica instances');
    await eventually(
      () => w.reserve(TARGET, alice, 60).catch(() => null),
      (booked) => expect(booked).not.toBeNull(),
    );
    expect(await w.differences()).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a sender that is the master again does not wait for the replica that died in its place',
  async () => {
    const [master, replica] = [at(cluster.masters), at(cluster.replicas)];
    await w.reserve(TARGET, alice, 10);
    await handOver(replica);
    await inStep(master);
    // The client learns which node is the master.
    await until('the shard answers', answers);
    await replica.kill();
    await until('the first master takes over', () => isMaster(master));
    await eventually(
      () => w.reserve(TARGET, alice, 60).catch(() => null),
      (booked) => expect(booked).not.toBeNull(),
    );
    expect(await w.differences()).toEqual([]);
  },
  LIMIT_MS,
);
