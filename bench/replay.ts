import { NET_FIELDS } from '../src/store/records/account';
import { connect, disconnect, ready } from '../src/store/redis/connection';
import { createKeys } from '../src/store/redis/keys';
import type { RedisClient } from '../src/store/redis/scripts';
import { startTestCluster, type TestCluster } from '../test/support/redis';

/** One command to Redis, and the ids of a stream in its reply. */
export interface Sent {
  readonly name: string;
  readonly args: readonly (string | Buffer | number)[];
  ids?: readonly string[];
}

/** The commands that one shard got: first all before the slices, then those of each slice. */
export type Recording = readonly (readonly Sent[])[];

/** The contents of a shard in the end. */
export type Totals = readonly string[];

/** Sends again what was recorded, to one master for each shard. */
export interface Replay {
  /** The next slice of one shard; they take turns. Returns the CPU time of its master's main thread, in microseconds. */
  next(): Promise<number>;
  /** Sends the slices that are left. Throws when a shard is not what it was when the commands were recorded. */
  check(totals: readonly Totals[]): Promise<void>;
  stop(): Promise<void>;
}

/** So many commands leave together, and the next when all are answered. */
const TOGETHER = 32;
const ACCOUNTS_MAX = 100_000;
const READY_MS = 10_000;
const STREAM_ID = /^\d{13}-\d+$/;

interface Master {
  readonly server: TestCluster;
  readonly redis: RedisClient;
  readonly slices: (readonly Sent[])[];
  /** The ids of streams that were recorded, and what they are here. */
  readonly ids: Map<string, string>;
}

/** Each master has all slots of a cluster of its own, because a node of a cluster looks at each key's slot. */
export async function openReplay(recordings: readonly Recording[]): Promise<Replay> {
  const masters: Master[] = [];
  const stop = async (): Promise<void> => {
    for (const { redis, server } of masters) {
      disconnect(redis);
      await server.stop();
    }
  };

  let turn = 0;
  async function next(): Promise<number> {
    const master = masters[turn++ % masters.length];
    if (!master) return 0;
    const before = await mainThreadMicros(master.redis);
    await send(master, master.slices.shift() ?? []);
    return (await mainThreadMicros(master.redis)) - before;
  }

  async function check(totals: readonly Totals[]): Promise<void> {
    for (const [shard, master] of masters.entries()) {
      for (const slice of master.slices.splice(0)) await send(master, slice);
      const found = await totalsOf(master.redis, shard);
      if (found.join() !== totals[shard]?.join())
        throw new Error(`shard ${shard} has other orders or transfers than were recorded`);
    }
  }

  try {
    for (const [first = [], ...slices] of recordings) {
      const server = await startTestCluster(1);
      const master = { server, redis: connect({ urls: [server.url] }), slices, ids: new Map() };
      masters.push(master);
      await ready(master.redis, READY_MS);
      await send(master, first);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { next, check, stop };
}

async function send({ redis, ids }: Master, commands: readonly Sent[]): Promise<void> {
  for (let at = 0; at < commands.length; at += TOGETHER) {
    const together = commands.slice(at, at + TOGETHER).map(async (sent) => {
      // A mark is a text; the ids that a shard takes are bytes, and those of another shard.
      const here = sent.args.map((arg) => (typeof arg === 'string' ? (ids.get(arg) ?? arg) : arg));
      const reply = await redis.callBuffer(sent.name, ...here);
      // Begins at the last one, because a read that came earlier or later here may find more or less.
      const [then, now] = [sent.ids ?? [], streamIds(reply)];
      for (let back = 1; back <= Math.min(then.length, now.length); back++)
        ids.set(then.at(-back) as string, now.at(-back) as string);
    });
    // The first call of a script is refused here as it was when it was recorded, and then sent with its source.
    await Promise.allSettled(together);
  }
}

/** Those of the last entry and of each entry that a look at a channel finds. */
export function streamIds(reply: unknown): string[] {
  if (!Array.isArray(reply) || !STREAM_ID.test(String(reply[0]))) return [];
  return reply.map(String).filter((text) => STREAM_ID.test(text));
}

/** How many orders there are, and what each wallet sent and got. */
export async function totalsOf(redis: RedisClient, shard: number): Promise<Totals> {
  const { orders, cash } = createKeys(shard);
  const [, moved] = await redis.hscanBuffer(cash, '0', 'MATCH', NET_FIELDS, 'COUNT', ACCOUNTS_MAX);
  const wallets = moved.flatMap((field, i) =>
    i % 2 === 0 ? [`${field.toString('hex')} ${moved[i + 1]?.toString('hex')}`] : [],
  );
  return [String(await redis.hlen(orders)), ...wallets.sort()];
}

async function mainThreadMicros(redis: RedisClient): Promise<number> {
  const info = await redis.info('cpu');
  const of = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return 1e6 * (of('used_cpu_user_main_thread') + of('used_cpu_sys_main_thread'));
}
