import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../exchange/errors';
import { MODES } from '../../../exchange/status';
import { readMode } from '../../../store/health/health';
import { noteLayout } from '../../../store/health/layout';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { ShardCount } from '../../../store/redis/tags';
import { openHomes } from './homes';
import { FIRST_LAYOUT, readShards } from './layout';
import { listChannels } from './list';

export interface GrowOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  /** Keys of the shards that the exchange will have. */
  readonly shards: readonly Keys[];
  /** How long to wait for processes to end; the default is longer than any lease lives. */
  readonly patienceMs?: number;
  /** How long to wait until processes have noticed. */
  readonly lookMs?: number;
  /** Called before each step, with its name. */
  readonly onStep?: (step: GrowStep) => Promise<void>;
}

export type GrowStep =
  | 'prepare'
  | 'begin'
  | 'wait'
  | 'shards'
  | 'directory'
  | 'homes'
  | 'logs'
  | 'confirm'
  | 'end';

export interface GrowReport {
  readonly from: number;
  readonly to: number;
  /** The wallets whose home is another shard now. */
  readonly moved: number;
}

/** The longest lease lives ten seconds after its process was killed. */
const PATIENCE_MS = 15_000;
const POLL_MS = 100;
/** A process looks every second whether the number of shards is still its own (shard-watch.ts), and waits two for an answer. */
const LOOK_MS = 3_000;
/** The time that replicas have to confirm the new homes. */
const CONFIRM_MS = 30_000;
/** The logs of wallets end an hour after they were last used (src/store/outbox/account-log.ts). */
const LOG_LIFE_MS = 3_600_000;
const WAIT_MS = 1_000;
const ROLE_REPLICAS = 2;

/**
 * Gives an exchange more shards. It must be HALTED, and no process may be at work. Markets and orders stay where they are; each wallet
 * whose home changes gets an account in its new one, and the collateral follows when it is needed. Every step can be repeated: after
 * an interruption the same call ends it, and until then no process starts (otherShards in layout.ts).
 */
export async function growShards(options: GrowOptions): Promise<GrowReport> {
  const { redis, run, shards, lookMs = LOOK_MS, onStep = async () => undefined } = options;
  const first = shards[0] as Keys;
  const to = shards.length as ShardCount;
  const { count: from, growing } = await readShards(redis, first);
  if (growing !== null && growing !== to) throw otherGrowth(growing);
  if (from === to) return { from, to, moved: 0 };
  await onStep('prepare');
  if (growing === null) {
    for (const [shard, keys] of shards.slice(0, from).entries()) await checkHalted(redis, keys, shard);
    await checkGrowth(options, from);
  }
  await onStep('begin');
  await begin(options, from);
  await onStep('wait');
  await sleep(lookMs);
  await checkIdle(options, from);
  await onStep('shards');
  for (const keys of shards.slice(from)) await openShard(options, keys);
  await onStep('directory');
  if (from === 1) await fillDirectory(options);
  await onStep('homes');
  const moved = await openHomes({ redis, run, shards, from: from as ShardCount });
  await onStep('logs');
  for (const keys of shards.slice(0, from)) await breakLogs(redis, keys);
  await onStep('confirm');
  for (const keys of shards) await confirm(redis, keys);
  await onStep('end');
  for (const keys of shards.slice(0, from)) await cutOff(redis, keys);
  // Keys of one hash: both or none.
  await redis.multi().hset(first.shardCount, 'count', to).hdel(first.shardCount, 'grow').exec();
  return { from, to, moved };
}

/**
 * Refuses a number of shards that the exchange cannot grow to, and waits for processes to end. Changes nothing, so it is asked before the
 * exchange is halted.
 */
export async function checkGrowth(
  options: Pick<GrowOptions, 'redis' | 'shards' | 'patienceMs'>,
  from: number,
): Promise<void> {
  const { redis, shards } = options;
  const to = shards.length;
  if (to < from) {
    const message = `the exchange has ${from} shards, and the number never falls`;
    throw new Refusal('INVALID_REQUEST', message);
  }
  if ((await redis.exists((shards[0] as Keys).funds)) === 1)
    throw new Refusal('INVALID_REQUEST', 'an exchange with funds on a chain has one shard: use SHARDS=1');
  for (const [shard, keys] of shards.entries()) {
    if (shard < from) continue;
    const places = [keys.markets, keys.cash, keys.outbox];
    if ((await Promise.all(places.map((key) => redis.exists(key)))).includes(1))
      throw new Refusal(
        'INVALID_REQUEST',
        `this Redis holds data in shard ${shard} already: use a Redis that has this exchange alone`,
      );
  }
  const broken = (await listChannels({ redis, shards: shards.slice(0, from) })).some(
    ({ isBroken }) => isBroken,
  );
  if (broken)
    throw new Refusal('INVALID_REQUEST', 'a channel is broken: repair it first, with exchange shards repair');
  await checkIdle(options, from);
}

async function checkHalted(redis: RedisClient, keys: Keys, shard: number): Promise<void> {
  const { mode } = await readMode(redis, keys);
  if (mode === 'HALTED') return;
  throw new Refusal(
    'INVALID_REQUEST',
    `more shards need the mode HALTED, and shard ${shard} is in mode ${mode}: --halt sets it until they are there`,
  );
}

/** A process that is at work holds a lease. One that was killed leaves it behind for some seconds. */
async function checkIdle(
  { redis, shards, patienceMs = PATIENCE_MS }: Pick<GrowOptions, 'redis' | 'shards' | 'patienceMs'>,
  from: number,
): Promise<void> {
  const leases = shards
    .slice(0, from)
    .flatMap((keys) => [keys.lease, keys.relayLease, keys.archiveLease, keys.observerLease]);
  const giveUpAt = performance.now() + patienceMs;
  while ((await Promise.all(leases.map((lease) => redis.exists(lease)))).includes(1)) {
    if (performance.now() > giveUpAt)
      throw new Refusal(
        'INVALID_REQUEST',
        'web or worker processes are at work on this exchange: stop them first, and start them with the new number of shards',
      );
    await sleep(POLL_MS);
  }
}

async function begin({ run, shards }: GrowOptions, from: number): Promise<void> {
  const { shardCount, layout, mode } = shards[0] as Keys;
  const [code, detail] = await run(
    'begin_growth',
    [shardCount, layout, mode],
    [from, shards.length, FIRST_LAYOUT],
  );
  const answer = code.toString();
  if (answer === 'OK') return;
  if (answer === 'OTHER') throw otherGrowth(Number(detail));
  throw new Refusal(
    'INVALID_REQUEST',
    answer === 'MODE'
      ? 'more shards need the mode HALTED'
      : `the exchange has ${detail} shards now; run the command again`,
  );
}

const otherGrowth = (to: number): Refusal =>
  new Refusal(
    'INVALID_REQUEST',
    `the exchange is getting ${to} shards: end that first, with exchange shards grow --to ${to}`,
  );

/** A new shard is halted, too, before anything is in it. */
async function openShard({ run, redis, shards }: GrowOptions, keys: Keys): Promise<void> {
  const { message } = await readMode(redis, shards[0] as Keys);
  const args = [keys.prefix, MODES.indexOf('HALTED'), message ?? ''] as const;
  await run('set_mode', [keys.mode, keys.markets, keys.notice], args);
  await noteLayout(run, keys);
}

async function fillDirectory({ run, shards }: GrowOptions): Promise<void> {
  const keys = shards[0] as Keys;
  const { shardCount, marketNames, events, marketList } = keys;
  const { allNames, allEvents, allMarkets, marketShards } = keys;
  const scriptKeys = [
    ...([shardCount, marketNames, events, marketList] as const),
    ...([allNames, allEvents, allMarkets, marketShards] as const),
  ] as const;
  if ((await run('fill_directory', scriptKeys, [shards.length])) < 0)
    throw new Refusal(
      'UNAVAILABLE',
      'another run of this command has ended meanwhile; see: exchange shards list',
    );
}

/**
 * The marks of the logs of private messages are of the old shards. Without them the logs begin again with the next socket, and a
 * client that asks for earlier messages learns that some are missing.
 */
async function breakLogs(redis: RedisClient, keys: Keys): Promise<void> {
  if ((await redis.exists(keys.accountMarks)) === 0) return;
  const [seconds, micros] = await holderOf(redis, keys).time();
  const nowUs = Number(seconds) * 1_000_000 + Number(micros);
  await redis
    .multi()
    .del(keys.accountMarks)
    .hset(keys.accountMarks, 'gap', nowUs)
    .pexpire(keys.accountMarks, LOG_LIFE_MS)
    .exec();
}

/**
 * Ends all other connections to a shard. A process that stood still through all of this had commands to send when it stopped: now
 * they fail, and it looks at the number of shards before it sends others (shard-watch.ts). A user without the right to do so goes on.
 */
async function cutOff(redis: RedisClient, keys: Keys): Promise<void> {
  const killing = holderOf(redis, keys).call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await killing.catch((error: Error) => {
    if (!error.message.startsWith('NOPERM')) throw error;
  });
}

/** A home that a failover takes back would give its wallets a second first grant. */
async function confirm(redis: RedisClient, keys: Keys): Promise<void> {
  const node = holderOf(redis, keys);
  const role = (await node.call('ROLE')) as unknown[];
  const replicas = (role[ROLE_REPLICAS] as unknown[]).length;
  for (let left = CONFIRM_MS; replicas > 0; left -= WAIT_MS) {
    if ((await node.wait(replicas, WAIT_MS)) >= replicas) return;
    if (left <= 0)
      throw new Refusal('UNAVAILABLE', 'a replica does not confirm what was written; run the command again');
  }
}
