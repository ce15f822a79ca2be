import { Cluster, type Redis } from 'ioredis';
import { timesSentAgain } from '../../../store/redis/direct';
import { holderOf, nameOf, replicasOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Link } from './noted-shards';

/** The reply of a script, whether every replica has what it read and wrote, and the connection that it went over. */
export interface Replicated<T> {
  readonly reply: T;
  readonly isReplicated: boolean;
  readonly link: Link;
}

/** The time that replicas have to confirm what a transfer takes; the next pull or `finishTransfers` takes it after that. */
const WAIT_MS = 50;
const ROLE_REPLICAS = 2;

/** How often the connection to a node was cut. */
const cuts = new WeakMap<Redis, number>();

export function linkTo(node: Redis): Link {
  const known = cuts.get(node);
  if (known !== undefined) return { node, cuts: known };
  cuts.set(node, 0);
  node.on('close', () => cuts.set(node, (cuts.get(node) ?? 0) + 1));
  return { node, cuts: 0 };
}

/** Runs scripts and waits for replicas, on the connections of `nodes`: WAIT speaks of the writes of its own connection. */
export function createReplicatedWrite(nodes: RedisClient, shards: readonly Keys[]) {
  /**
   * The most replicas that a node had since it is the master of a shard, by both names. One that it does not list now, because their
   * link is down, may still take over from it. The client may name another node for a while, so a node keeps its number until it is a
   * replica itself.
   */
  const most = new Map<string, number>();
  const nameIn = (keys: Keys, node: string): string => `${keys.prefix} ${node}`;

  // Also when nothing is sent from a shard while another node is its master. What it says right after a failover may lack the former
  // master, so that is also looked for among the replicas that a master lists.
  if (nodes instanceof Cluster)
    nodes.on('refresh', () => {
      for (const keys of shards)
        for (const replica of replicasOf(nodes, keys)) most.delete(nameIn(keys, replica));
    });

  /**
   * Runs a script that writes in a shard, and waits until the replicas of that shard have what it wrote. It is not safe when they did
   * not answer in time, or when another node or another connection came in between: what it read may be lost then. A script that was
   * sent again ran at another node, though the client may name the former one again.
   */
  async function replicatedWrite<T>(keys: Keys, act: () => Promise<T>): Promise<Replicated<T>> {
    const node = holderOf(nodes, keys);
    const name = nameIn(keys, nameOf(node));
    const link = linkTo(node);
    const times = timesSentAgain(nodes);
    const [role, reply] = await Promise.all([node.call('ROLE') as Promise<unknown[]>, act()]);
    if (role[0] !== 'master') most.delete(name);
    if (role[0] !== 'master' || timesSentAgain(nodes) !== times) return { reply, isReplicated: false, link };
    const replicas = role[ROLE_REPLICAS] as (readonly [host: string, port: string, offset: string])[];
    for (const [host, port] of replicas) most.delete(nameIn(keys, `${host}:${port}`));
    const present = replicas.length;
    const expected = Math.max(most.get(name) ?? 0, present);
    most.set(name, expected);
    // One that is away confirms nothing, so nothing waits for it.
    const isConfirmed = present === expected && (present === 0 || (await confirmed(node, expected)));
    const isSame = linkTo(node).cuts === link.cuts && holderOf(nodes, keys) === node;
    return { reply, isReplicated: isSame && isConfirmed, link };
  }

  /** Whether this many replicas have what was written. A node that has become a replica meanwhile answers WAIT with an error. */
  const confirmed = (node: Redis, replicas: number): Promise<boolean> =>
    node.wait(replicas, WAIT_MS).then(
      (count) => count >= replicas,
      () => false,
    );

  return replicatedWrite;
}
