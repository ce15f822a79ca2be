import { Command, Redis } from 'ioredis';
import type { Keys } from './keys';
import type { RedisClient } from './scripts';

/**
 * The node that has the book: the single server, or the master of its slot in a cluster as this client knows it, which every
 * redirected script corrects. A cluster's client sends commands without a key (CONFIG, INFO, TIME) to any node; these must
 * go to the node that has the book.
 */
export function holderOf(redis: RedisClient, keys: Keys): Redis {
  if (redis instanceof Redis) return redis;
  const slot = slotOf(keys);
  const name = placeOf(redis, keys);
  if (name === null)
    throw new Error(`CLUSTERDOWN no node of the cluster has slot ${slot}, in which the book is`);
  const holder = redis.nodes('all').find((node) => nameOf(node) === name);
  if (holder) return holder;
  // The client forgets a node that closed its connection, and the slot is still that node's. Nothing was sent here that could be
  // redirected, so the client does not learn which node is the master now.
  redis.refreshSlotsCache();
  throw new Error(`CLUSTERDOWN ${name} has slot ${slot} and does not answer`);
}

/** Host and port of the node that has the book, also while it does not answer; null in a cluster in which no node has its slot. */
export const placeOf = (redis: RedisClient, keys: Keys): string | null =>
  redis instanceof Redis ? nameOf(redis) : (redis.slots[slotOf(keys)]?.[0] ?? null);

/** Host and port of each node that has a copy of the book, as this client knows them. */
export const replicasOf = (redis: RedisClient, keys: Keys): readonly string[] =>
  redis instanceof Redis ? [] : (redis.slots[slotOf(keys)]?.slice(1) ?? []);

export const slotOf = (keys: Keys): number => slotOfKey(keys.epoch);

export const slotOfKey = (key: string): number => Number(new Command('exists', [key]).getSlot());

/** Behind Sentinels the name that they know the primary by. */
export const nameOf = ({ options }: Redis): string =>
  options.sentinels ? (options.name ?? '') : `${options.host}:${options.port}`;
