import { Cluster, type Redis } from 'ioredis';
import { nameOf, slotOfKey } from './holder';
import type { RedisClient } from './scripts';

/** The node to which a script goes, by the door of its shard (keys.ts); the client itself where it does not know one. */
export type Direct = (door: string | null) => RedisClient;

/**
 * The client of a cluster looks for the keys of each command, computes their slot, and prepares to send it again to another node; its
 * garbage costs as much again. An order took 114 us of a web process with 8 shards, and 131 that way (bench/README.md, Several shards). A
 * door tells the slot of all keys of its script, so the script goes there at once, and to the client only when the node refuses it.
 */
export function createDirect(redis: RedisClient): Direct {
  if (!(redis instanceof Cluster)) return () => redis;
  const nodes = new Map(redis.nodes('all').map((node) => [nameOf(node), node]));
  redis.on('+node', (node: Redis) => nodes.set(nameOf(node), node));
  // The client may have another connection to that node already.
  redis.on('-node', (node: Redis) => {
    if (nodes.get(nameOf(node)) === node) nodes.delete(nameOf(node));
  });
  /** Of each door: there are as many as shards. */
  const slots = new Map<string, number>();

  function slotOf(door: string): number {
    const known = slots.get(door);
    if (known !== undefined) return known;
    const slot = slotOfKey(door);
    slots.set(door, slot);
    return slot;
  }

  return (door) => {
    if (door === null || redis.status !== 'ready') return redis;
    const name = redis.slots[slotOf(door)]?.[0];
    return (name === undefined ? undefined : nodes.get(name)) ?? redis;
  };
}

/** The answers of a node without the slot, or with a part of it. The script has not run then. */
const ELSEWHERE = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /;

export const isElsewhere = (error: unknown): boolean =>
  error instanceof Error && ELSEWHERE.test(error.message);
