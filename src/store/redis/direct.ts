import { Cluster, Command, type Redis } from 'ioredis';
import { slotOfKey } from './holder';
import './timeouts';
import type { RedisClient } from './scripts';

/** The node for a script, by the slot key of its partition (`slotKeyOf`); the client itself where it does not know one. */
export type Direct = (slotKey: string | null) => RedisClient;

/** The connections of a cluster's client, which ioredis 6 has for itself; test/store/redis/direct.test.ts fails when they move. */
interface Pool {
  readonly connectionPool: { getInstanceByKey(name: string): Redis | undefined };
}

/**
 * The client of a cluster looks for the keys of each command, computes their slot, and prepares to send it again to another node; its
 * garbage costs as much again. An order took 114 us of a web process with 8 partitions, and 131 that way. The slot key gives the slot of
 * all keys of a script, so the script is sent there at once, and to the client only when the node refuses it.
 */
export function createDirect(redis: RedisClient): Direct {
  if (!(redis instanceof Cluster)) return () => redis;
  const { connectionPool } = redis as unknown as Pool;
  /** Slot of each key that names a partition. */
  const slots = new Map<string, number>();

  function slotOf(slotKey: string): number {
    const known = slots.get(slotKey);
    if (known !== undefined) return known;
    const slot = slotOfKey(slotKey);
    slots.set(slotKey, slot);
    return slot;
  }

  return (slotKey) => {
    if (slotKey === null || redis.status !== 'ready') return redis;
    const name = redis.slots[slotOf(slotKey)]?.[0];
    return (name === undefined ? undefined : connectionPool.getInstanceByKey(name)) ?? redis;
  };
}

/** The answers of a node without the slot, or with a part of it. The script has not run then. */
const ELSEWHERE = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /;

export const isElsewhere = (error: unknown): boolean =>
  error instanceof Error && ELSEWHERE.test(error.message);

/** How often a client has sent a script again, to another node than the one that it knew. */
const again = new WeakMap<RedisClient, number>();

export const timesSentAgain = (redis: RedisClient): number => again.get(redis) ?? 0;

export const noteSentAgain = (redis: RedisClient): void => void again.set(redis, timesSentAgain(redis) + 1);

interface Limited {
  setTimeout(ms: number): void;
}

/** Sends what `node` has refused, within the rest of the limit that it had there. */
export function sendWithin(
  redis: RedisClient,
  node: RedisClient,
  [name, ...args]: readonly [string, ...(string | number | Buffer)[]],
  startedAt: number,
): Promise<unknown> {
  const command = new Command(name, args, { replyEncoding: null });
  // A cluster's client has no limit of its own, and its nodes set theirs.
  const { commandTimeout } = (node as Redis).options;
  // A limit is set only where a command has none (timeouts.ts).
  if (commandTimeout !== undefined)
    (command as unknown as Limited).setTimeout(Math.max(1, commandTimeout - (performance.now() - startedAt)));
  return redis.sendCommand(command) as Promise<unknown>;
}
