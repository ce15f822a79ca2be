import { Redis } from 'ioredis';
import type { Check } from './doctor';
import type { ShardKeys } from './keys';
import type { RedisClient } from './scripts';

interface Master {
  readonly redis: Redis;
  readonly name: string;
  /** What it says of itself in CLUSTER NODES behind its state: its slots, and those that move. */
  readonly slots: readonly string[];
}

export interface ClusterFacts {
  /** The node that has the book. */
  readonly holder: Redis;
  readonly checks: readonly Check[];
}

const OWN_FIELDS = 8;

/** Which node of a cluster has the book, and whether the cluster is fit; null for one server. Reads only. */
export async function examineCluster(
  redis: RedisClient,
  keys: ShardKeys,
  isProduction: boolean,
): Promise<ClusterFacts | null> {
  if (redis instanceof Redis) return null;
  const slot = Number(await redis.cluster('KEYSLOT', keys.prefix));
  const masters = await Promise.all(redis.nodes('master').map(describe));
  const holder = masters.find((master) => master.slots.some((range) => covers(range, slot)));
  if (!holder) throw new Error(`no node of the cluster has slot ${slot}, in which the book is`);
  return {
    holder: holder.redis,
    checks: [moving(masters, slot, holder), await coverage(masters, isProduction)],
  };
}

async function describe(redis: Redis): Promise<Master> {
  const lines = String(await redis.cluster('NODES')).split('\n');
  const own = lines.find((line) => / (\w+,)*myself(,\w+)* /.test(line)) ?? '';
  return {
    redis,
    name: `${redis.options.host}:${redis.options.port}`,
    slots: own.trim().split(' ').slice(OWN_FIELDS),
  };
}

function covers(range: string, slot: number): boolean {
  if (!/^\d+(-\d+)?$/.test(range)) return false;
  const [from = 0, to = from] = range.split('-').map(Number);
  return from <= slot && slot <= to;
}

/** Shown as `[14243->-<node>]` by the node the slot leaves, and as `[14243-<-<node>]` by the one to which it comes. */
function moving(masters: readonly Master[], slot: number, holder: Master): Check {
  const moves = masters.flatMap(({ name, slots }) =>
    slots.flatMap((text) => {
      const [, at, way] = /^\[(\d+)-([<>])-/.exec(text) ?? [];
      return Number(at) === slot && at !== undefined
        ? [`${way === '>' ? 'MIGRATING' : 'IMPORTING'} at ${name}`]
        : [];
    }),
  );
  const name = 'slot of the book';
  if (moves.length === 0) return { name, verdict: 'ok', detail: `${slot}, at ${holder.name}` };
  const detail =
    `${slot} is ${moves.join(' and ')}: no script runs until it has moved; ` +
    'if nobody moves it any more: redis-cli --cluster fix';
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
