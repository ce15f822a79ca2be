import { Cluster, type Redis } from 'ioredis';
import { holderOf, nameOf, placeOf } from '../redis/holder';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Link } from './noted-shards';

/** The reply of a script, whether every replica has what it read and wrote, and the connection that it went over. */
export interface Safe<T> {
  readonly reply: T;
  readonly isSafe: boolean;
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

/**
 * The most replicas that a shard's master had since this process knows it as the master. One that it does not list now, because
 * their link is down, may still take over from it. Those that it had when it was the master before do not count.
 */
interface Master {
  readonly name: string;
  replicas: number;
}

/** Runs scripts and waits for replicas, on the connections of `nodes`: WAIT speaks of the writes of its own connection. */
export function createSafely(nodes: RedisClient, shards: readonly ShardKeys[]) {
  /** Of each shard, by its prefix. */
  const masters = new Map<string, Master>();

  function masterOf(keys: ShardKeys, node: Redis): Master {
    const known = masters.get(keys.prefix);
    const name = nameOf(node);
    if (known?.name === name) return known;
    const fresh: Master = { name, replicas: 0 };
    masters.set(keys.prefix, fresh);
    return fresh;
  }

  // Also when nothing is sent from a shard while another node is its master.
  if (nodes instanceof Cluster)
    nodes.on('refresh', () => {
      for (const keys of shards)
        if (masters.get(keys.prefix)?.name !== placeOf(nodes, keys)) masters.delete(keys.prefix);
    });

  /**
   * Runs a script that writes in a shard, and waits until the replicas of that shard have what it wrote. It is not safe when they
   * did not answer in time, or when another node or another connection came in between: what it read may be lost then. A key of the
   * shard is asked for right behind the script, because the client may name the former node of a slot again after it has moved.
   */
  async function safely<T>(keys: ShardKeys, act: () => Promise<T>): Promise<Safe<T>> {
    const node = holderOf(nodes, keys);
    const known = masterOf(keys, node);
    const link = linkTo(node);
    const [role, reply, isThere] = await Promise.all([
      node.call('ROLE') as Promise<unknown[]>,
      act(),
      node.exists(keys.epoch).then(
        () => true,
        () => false,
      ),
    ]);
    if (role[0] !== 'master' || !isThere) return { reply, isSafe: false, link };
    const present = (role[ROLE_REPLICAS] as unknown[]).length;
    known.replicas = Math.max(known.replicas, present);
    // One that is away confirms nothing, so nothing waits for it.
    const isConfirmed =
      present === known.replicas && (present === 0 || (await confirmed(node, known.replicas)));
    const isSame = linkTo(node).cuts === link.cuts && holderOf(nodes, keys) === node;
    return { reply, isSafe: isSame && isConfirmed, link };
  }

  /** Whether so many replicas have what was written. A node that has become a replica meanwhile answers WAIT with an error. */
  const confirmed = (node: Redis, replicas: number): Promise<boolean> =>
    node.wait(replicas, WAIT_MS).then(
      (count) => count >= replicas,
      () => false,
    );

  return safely;
}
