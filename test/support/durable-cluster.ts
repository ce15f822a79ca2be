import { freePort } from '../../src/local/ports';
import type { StartRedisOptions } from '../../src/local/redis';
import { type DurableRedis, startDurableRedis } from './durable-redis';
import { joinCluster, type Member } from './redis';
import { sleep, until } from './waiting';

/** A node of a cluster that can be killed and restarts with its data and its place in the cluster. */
export interface DurableNode extends DurableRedis, Member {}

export interface DurableCluster {
  /** The nodes, separated by commas, in the form of REDIS_URL. */
  readonly url: string;
  /** The masters at the beginning, in the order of their slots. */
  readonly masters: readonly DurableNode[];
  /** One of each master, in the same order; empty without replicas. */
  readonly replicas: readonly DurableNode[];
  stop(): Promise<void>;
}

interface DurableClusterOptions extends StartRedisOptions {
  readonly masters?: number;
  /** Each master gets one. */
  readonly hasReplicas?: boolean;
  /** The time after which a node counts as away, milliseconds. */
  readonly nodeTimeoutMs?: number;
}

const START_TRIES_MAX = 3;
const PAUSE_MS = 25;

/**
 * A real Redis Cluster on loopback whose nodes write every command to disk before they answer. Masters go on when another is away, as
 * docs/run/cluster.md asks.
 */
export async function startDurableCluster({
  masters: size = 4,
  hasReplicas = false,
  nodeTimeoutMs = 2_000,
  settings: more = [],
  ...options
}: DurableClusterOptions = {}): Promise<DurableCluster> {
  const nodes: DurableNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const settings = [
    ['cluster-require-full-coverage', 'no'],
    ['cluster-node-timeout', String(nodeTimeoutMs)],
    ...more,
  ] as const;
  const start = async (): Promise<DurableNode> => {
    const node = await startNode({ appendonly: 'always', ...options, settings });
    nodes.push(node);
    return node;
  };
  try {
    const masters: DurableNode[] = [];
    for (let i = 0; i < size; i++) masters.push(await start());
    await joinCluster(masters);
    const replicas: DurableNode[] = [];
    for (let i = 0; i < size && hasReplicas; i++) replicas.push(await start());
    await Promise.all(replicas.map((replica, i) => follow(replica, masters[i] as DurableNode)));
    await Promise.all(nodes.map((node) => knowsAll(node, nodes.length)));
    return { url: nodes.map((node) => node.url).join(','), masters, replicas, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Its port for the other nodes is chosen here, because it must be the same after a restart. */
async function startNode(options: StartRedisOptions): Promise<DurableNode> {
  for (let tries = 1; ; tries++) {
    const busPort = await freePort();
    const settings = [...(options.settings ?? []), ['cluster-port', String(busPort)] as const];
    try {
      // A getter of the server, such as its pid, must stay one.
      const node = await startDurableRedis({ ...options, cluster: true, settings });
      return Object.defineProperty(node, 'busPort', { value: busPort }) as DurableNode;
    } catch (error) {
      if (tries === START_TRIES_MAX) throw error;
    }
  }
}

async function follow(replica: DurableNode, master: DurableNode): Promise<void> {
  const id = (await master.ask('CLUSTER MYID')).trim();
  await replica.ask(`CLUSTER MEET 127.0.0.1 ${master.port} ${master.busPort}`);
  await until('the replica knows its master', () =>
    replica.ask(`CLUSTER REPLICATE ${id}`).then(
      () => true,
      () => false,
    ),
  );
  await inStep(replica);
}

/** Until a replica follows its master again. */
export const inStep = (replica: Pick<DurableRedis, 'ask'>): Promise<void> =>
  until('the replica follows', async () =>
    (await replica.ask('INFO replication').catch(() => '')).includes('master_link_status:up'),
  );

export const isMaster = async (node: Pick<DurableRedis, 'ask'>): Promise<boolean> =>
  (await node.ask('INFO replication').catch(() => '')).includes('role:master');

async function knowsAll(node: DurableNode, size: number): Promise<void> {
  await until('every node knows all others', async () => {
    const info = await node.ask('CLUSTER INFO');
    return info.includes(`cluster_known_nodes:${size}`) && info.includes('cluster_state:ok');
  });
  await sleep(PAUSE_MS);
}
