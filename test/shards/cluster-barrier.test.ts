import { openShardWorld, type ShardWorld, walletWithHome } from '../store/shards/world';
import {
  type DurableCluster,
  type DurableNode,
  isMaster,
  startDurableCluster,
} from '../support/durable-cluster';
import { until } from '../support/waiting';
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
  await until('the shard answers', () =>
    w.exchange.collateral(alice).then(
      () => true,
      () => false,
    ),
  );
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
    if (!('nodes' in w.redis)) throw new Error('no cluster');
    for (const node of w.redis.nodes('all')) node.wait = async (count: number) => count;
    expect(await takenOver()).toBe('BOOKED');
    expect((await w.transfers.finish()).broken).toEqual([[DONOR, TARGET]]);
    expect((await w.differences()).join()).toContain('LOST_ENTRIES');
  },
  LIMIT_MS,
);
