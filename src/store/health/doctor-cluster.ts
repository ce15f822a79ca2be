import { type Cluster, Redis } from 'ioredis';
import { holderOf, nameOf, slotOf } from '../redis/holder';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';

interface Master {
  readonly redis: Redis;
  readonly name: string;
  /** The fields of a node in CLUSTER NODES after its state: its slots, and the slots that move. */
  readonly slots: readonly string[];
}

const OWN_FIELDS = 8;

/** Checks the cluster; a single server has no such checks. Reads only. */
export async function examineCluster(
  redis: RedisClient,
  keys: Keys,
  isProduction: boolean,
): Promise<readonly Check[]> {
  if (redis instanceof Redis) return [];
  const masters = await Promise.all(redis.nodes('master').map(describe));
  return [
    moving(masters, 'slot of the book', slotOf(keys), nameOf(holderOf(redis, keys))),
    await coverage(masters, isProduction),
  ];
}

/** The same for several shards, by the masters that answer: slots that stay where they are are one check. */
export async function examineSlots(
  redis: RedisClient,
  nodes: readonly Redis[],
  shards: readonly Keys[],
  isProduction: boolean,
): Promise<readonly Check[]> {
  if (redis instanceof Redis) return [];
  const masters = await Promise.all(nodes.map(describe));
  const found = shards.map((keys, shard) => slotOfShard(redis, masters, keys, shard));
  const moved = found.filter(({ verdict }) => verdict !== 'ok');
  const slots: readonly Check[] =
    moved.length > 0 ? moved : [{ name: 'slots', verdict: 'ok', detail: placesOf(redis, shards) }];
  return [...slots, await coverage(masters, isProduction)];
}

function slotOfShard(redis: Cluster, masters: readonly Master[], keys: Keys, shard: number): Check {
  const name = `slot of shard ${shard}`;
  try {
    return moving(masters, name, slotOf(keys), nameOf(holderOf(redis, keys)));
  } catch (error) {
    return { name, verdict: 'fail', detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Which node has which shards. */
function placesOf(redis: Cluster, shards: readonly Keys[]): string {
  const places = new Map<string, number[]>();
  for (const [shard, keys] of shards.entries()) {
    const node = nameOf(holderOf(redis, keys));
    places.set(node, [...(places.get(node) ?? []), shard]);
  }
  return [...places].map(([node, own]) => `${node} has ${own.join(', ')}`).join('; ');
}

async function describe(redis: Redis): Promise<Master> {
  const lines = String(await redis.cluster('NODES')).split('\n');
  const own = lines.find((line) => / (\w+,)*myself(,\w+)* /.test(line)) ?? '';
  return {
    redis,
    name: nameOf(redis),
    slots: own.trim().split(' ').slice(OWN_FIELDS),
  };
}

/** The node that a slot leaves shows `[14243->-<node>]`, the node to which it moves shows `[14243-<-<node>]`. */
function moving(masters: readonly Master[], name: string, slot: number, holder: string): Check {
  const moves = masters.flatMap(({ name, slots }) =>
    slots.flatMap((text) => {
      const [, at, way] = /^\[(\d+)-([<>])-/.exec(text) ?? [];
      return Number(at) === slot && at !== undefined
        ? [`${way === '>' ? 'MIGRATING' : 'IMPORTING'} at ${name}`]
        : [];
    }),
  );
  if (moves.length === 0) return { name, verdict: 'ok', detail: `${slot}, at ${holder}` };
  const detail =
    `${slot} is ${moves.join(' and ')}: no script runs until it has moved; ` +
    'if no process moves it any more: redis-cli --cluster fix';
  return { name, verdict: 'fail', detail };
}

async function coverage(masters: readonly Master[], isProduction: boolean): Promise<Check> {
  const name = 'cluster coverage';
  try {
    const replies = await Promise.all(
      masters.map(({ redis }) => redis.config('GET', 'cluster-require-full-coverage') as Promise<string[]>),
    );
    const strict = masters.filter((_, i) => replies[i]?.[1] === 'yes');
    if (strict.length === 0)
      return { name, verdict: 'ok', detail: 'a node that is down stops its own slots only' };
    const detail =
      `cluster-require-full-coverage yes at ${strict.map((master) => master.name).join(', ')}: ` +
      'any master that is down stops the book too; set no on every node';
    return { name, verdict: isProduction ? 'fail' : 'warn', detail };
  } catch (error) {
    if (!(error instanceof Error && /unknown command|NOPERM/i.test(error.message))) throw error;
    return {
      name,
      verdict: 'warn',
      detail: 'cluster-require-full-coverage cannot be seen: it must be no on every node',
    };
  }
}
