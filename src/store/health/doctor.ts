import type { Redis } from 'ioredis';
import { holderOf, nameOf } from '../redis/holder';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { examineCluster } from './doctor-cluster';
import { dates } from './doctor-dates';
import { dust } from './doctor-dust';
import { epoch } from './doctor-epoch';
import { memory, SHARE_FAIL, share, writes } from './doctor-memory';
import { outbox } from './doctor-outbox';
import { type Durability, durabilityOf, gapOf, type Promised, type Settings, settingsOf } from './durability';
import { readMode, runProbe } from './health';
import { type Info, infoOf, number, replicaLagsOf } from './info';
import { LAYOUT, readLayout, unreadable } from './layout';
import { worker } from './watched';

/** The result of one check. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}

/** Why each partition that does not answer does not. */
export type Silences = ReadonlyMap<number, string>;

/** The checks, or one that fails when something does not answer. */
export async function unlessSilent(
  name: string,
  look: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ name, verdict: 'fail', detail: `no answer: ${why.replace(/\s+/g, ' ')}` }];
  }
}

export interface DoctorOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  /** In production it counts as a failure instead of a warning. */
  readonly isProduction: boolean;
  readonly promised: Promised;
  /** The replicas that confirm; 0 unless `promised` is `replicated`. */
  readonly replicas?: number;
  /** The readers of the outbox. */
  readonly readers: readonly string[];
}

const VERSION_MIN = [7, 0] as const;
/** The first with WAITAOF. */
const REPLICATED_MIN = [7, 2] as const;
/** The clock of Redis decides deadlines and expiries; the clock of a replica, which clients see, should be close to it. */
const SKEW_WARN_MS = 250;
const SKEW_FAIL_MS = 2_000;
const ROUND_TRIP_WARN_MS = 5;
const PINGS = 5;
/** Connections of one process, counted while every part of it ran; see docs/run/cli.md. */
export const WEB_CONNECTIONS = 5;
export const WORKER_CONNECTIONS = 12;

/** Checks whether this Redis is suitable for the exchange, and whether the exchange works. Reads only. */
export async function examine(options: DoctorOptions): Promise<readonly Check[]> {
  const { redis, keys, isProduction } = options;
  const cluster = await examineCluster(redis, keys, isProduction);
  // The checks of one server apply to the node that has the book.
  const server = holderOf(redis, keys);
  const standing = await examineServer(server, options);
  return [...standing, ...cluster, ...(await examineContent(options, await timeOf(server)))];
}

/** The checks of one server. */
export async function examineServer(
  server: Redis,
  options: Pick<DoctorOptions, 'isProduction' | 'promised' | 'replicas'>,
): Promise<readonly Check[]> {
  const info = await infoOf(server);
  const settings = await settingsOf(server);
  return [
    version(info, options.promised),
    ...persistence(settings, options, info),
    eviction(settings, options.isProduction),
    memory(info),
    connections(info),
    role(info, options.isProduction),
    ...(options.replicas ? [replicas(info, options.replicas, server)] : []),
    ...(await clock(server)),
  ];
}

/** The checks of what is in one partition. */
export const examineContent = async (options: DoctorOptions, nowMs: number): Promise<readonly Check[]> => [
  await scripts(options),
  await layoutOf(options),
  ...(await exchange(options, nowMs)),
];

function version(info: Info, promised: Promised): Check {
  const text = info.get('redis_version') ?? 'unknown';
  const [major = 0, minor = 0] = text.split('.').map(Number);
  const [majorMin, minorMin] = promised === 'replicated' ? REPLICATED_MIN : VERSION_MIN;
  const isOld = major < majorMin || (major === majorMin && minor < minorMin);
  const name = info.has('valkey_version') ? `Valkey ${info.get('valkey_version')}, as Redis ${text}` : text;
  return {
    name: 'redis version',
    verdict: isOld ? 'fail' : 'ok',
    detail: isOld ? `${name}: ${majorMin}${minorMin ? `.${minorMin}` : ''} or newer is needed` : name,
  };
}

const DURABILITY: Readonly<Record<Exclude<Durability, 'none'>, string>> = {
  replicated: 'replicated: what was answered is on the disks of replicas, too',
  always: 'appendfsync always: nothing that was answered is lost',
  everysec: 'appendfsync everysec: up to a second may be lost',
  unknown: 'Redis does not show its settings: set DURABILITY to what its provider promises',
};

function durabilityWords(policy: Durability, settings: Settings): string {
  if (policy !== 'none') return DURABILITY[policy];
  const found =
    settings.get('appendonly') === 'yes'
      ? `appendfsync is ${settings.get('appendfsync')}; set appendfsync always`
      : 'appendonly is no; set appendonly yes and appendfsync always';
  return `what was answered may be lost: ${found}`;
}

function persistence(
  settings: Settings,
  { isProduction, promised }: Pick<DoctorOptions, 'isProduction' | 'promised' | 'replicas'>,
  info: Info,
): Check[] {
  const policy = durabilityOf(settings, promised);
  const byWord = durabilityOf(settings, null) === 'unknown' && promised !== null;
  const weak = isProduction ? 'fail' : 'warn';
  const durability: Check = {
    name: 'durability',
    verdict: policy === 'always' || policy === 'replicated' ? 'ok' : weak,
    detail: byWord
      ? `${policy}, as DURABILITY says: Redis does not show its settings`
      : durabilityWords(policy, settings),
  };
  return [durability, ...(policy === 'none' ? [] : lostEnd(settings, weak)), writes(info)];
}

/** Redis starts with a file whose end is missing, unless it is configured not to: what is missing may have been acknowledged. */
function lostEnd(settings: Settings, weak: Check['verdict']): Check[] {
  const name = 'aof-load-truncated';
  const is = settings.get(name);
  if (is === undefined) return [];
  return [
    is === 'no'
      ? { name, verdict: 'ok', detail: 'no: Redis does not start with a file that lost its end' }
      : { name, verdict: weak, detail: `${is}: Redis starts with a file that lost its end; set no` },
  ];
}

function eviction(settings: Settings, isProduction: boolean): Check {
  const policy = settings.get('maxmemory-policy') ?? null;
  if (policy === 'noeviction') return { name: 'eviction', verdict: 'ok', detail: 'noeviction' };
  const verdict = policy === null && !isProduction ? 'warn' : 'fail';
  const detail = `maxmemory-policy ${policy ?? 'cannot be seen'}: records may be thrown away; set noeviction`;
  return { name: 'eviction', verdict, detail };
}

function connections(info: Info): Check {
  const [open, most] = [number(info, 'connected_clients'), number(info, 'maxclients')];
  const refused = number(info, 'rejected_connections');
  if (most === 0)
    return { name: 'connections', verdict: 'ok', detail: `${open} open; their limit cannot be seen` };
  const room = Math.max(0, Math.floor((most * SHARE_FAIL - open) / WEB_CONNECTIONS));
  const verdict = refused > 0 && share(open / most) === 'ok' ? 'warn' : share(open / most);
  const before = refused > 0 ? `; ${refused} were refused since Redis started` : '';
  const each = `${WEB_CONNECTIONS} for a web process, ${WORKER_CONNECTIONS} for a worker`;
  return {
    name: 'connections',
    verdict,
    detail: `${open} of ${most}, ${each}: room for ${room} more web processes${before}`,
  };
}

function role(info: Info, isProduction: boolean): Check {
  const name = 'role';
  const is = info.get('role') ?? 'unknown';
  if (is !== 'master') return { name, verdict: 'fail', detail: `${is}: the exchange needs the master` };
  const replicas = number(info, 'connected_slaves');
  const detail = `master with ${replicas} replicas`;
  // A single server may be copied by other means; a cluster has no other way to go on.
  const isAlone = isProduction && replicas === 0 && info.get('cluster_enabled') === '1';
  return isAlone
    ? { name, verdict: 'warn', detail: `${detail}: when it is lost, nothing takes its place` }
    : { name, verdict: 'ok', detail };
}

function replicas(info: Info, confirming: number, server: Redis): Check {
  const name = 'replicas';
  const lags = replicaLagsOf(info);
  const lagBytes = lags[confirming - 1];
  if (lagBytes === undefined)
    return {
      name,
      verdict: 'fail',
      detail: `${lags.length} of ${confirming} follow: every request gets 503`,
    };
  const gap = gapOf(lags.length, confirming, server);
  return {
    name,
    verdict: gap ? 'fail' : 'ok',
    detail: gap ?? `${confirming} are ${lagBytes} bytes behind at most`,
  };
}

/** The time of this server in milliseconds. */
export async function timeOf(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}

/** Measures in the middle of the quickest of a few round trips how far a server is ahead of this machine. */
async function skewOf(redis: Redis): Promise<{ readonly skewMs: number; readonly tripMs: number }> {
  let [trip, skew] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < PINGS; i++) {
    const [start, startMs] = [performance.now(), Date.now()];
    const redisMs = await timeOf(redis);
    const took = performance.now() - start;
    if (took >= trip) continue;
    trip = took;
    skew = redisMs - (startMs + took / 2);
  }
  return { skewMs: skew, tripMs: trip };
}

const skewed = (ms: number): Check['verdict'] =>
  Math.abs(ms) > SKEW_FAIL_MS ? 'fail' : Math.abs(ms) > SKEW_WARN_MS ? 'warn' : 'ok';

async function clock(redis: Redis): Promise<Check[]> {
  const { skewMs, tripMs } = await skewOf(redis);
  const isSlow = tripMs > ROUND_TRIP_WARN_MS;
  return [
    {
      name: 'clock',
      verdict: skewed(skewMs),
      detail: `Redis is ${Math.round(skewMs)} ms ahead of this machine`,
    },
    { name: 'round trip', verdict: isSlow ? 'warn' : 'ok', detail: `${tripMs.toFixed(1)} ms at best` },
  ];
}

/** The clocks of several servers against each other. */
export async function clocks(servers: readonly Redis[]): Promise<Check[]> {
  const found = await Promise.all(
    servers.map(async (server) => ({ node: nameOf(server), ...(await skewOf(server)) })),
  );
  const [first, ...others] = found.sort((a, b) => a.skewMs - b.skewMs);
  const last = others.at(-1);
  if (!first || !last) return [];
  const apartMs = last.skewMs - first.skewMs;
  const detail = `${last.node} is ${Math.round(apartMs)} ms ahead of ${first.node}, the most of ${found.length} masters`;
  return [{ name: 'clocks', verdict: skewed(apartMs), detail }];
}

async function scripts({ run, keys }: DoctorOptions): Promise<Check> {
  try {
    await runProbe(run, keys);
    return { name: 'scripts', verdict: 'ok', detail: 'those of this version run' };
  } catch (error) {
    return {
      name: 'scripts',
      verdict: 'fail',
      detail: error instanceof Error ? error.message : String(error),
    };
  }
}

async function layoutOf({ redis, keys }: DoctorOptions): Promise<Check> {
  const data = await readLayout(redis, keys);
  const wrong = unreadable(data);
  const fine = `the data has layout ${data.layout}, readable by programs of layout ${data.oldest} or newer; this program has ${LAYOUT}`;
  return { name: 'layout', verdict: wrong === null ? 'ok' : 'fail', detail: wrong ?? fine };
}

/** Checks the exchange itself. */
async function exchange(options: DoctorOptions, nowMs: number): Promise<Check[]> {
  const { redis, keys } = options;
  const [{ mode, message }, restoring, unsettled, failed] = await Promise.all([
    readMode(redis, keys),
    redis.get(keys.restoring),
    redis.zcard(keys.unsettled),
    redis.hget(keys.sums, 'failed'),
  ]);
  const why = message === null ? mode : `${mode}: ${message}`;
  const checks: Check[] = [{ name: 'mode', verdict: mode === 'NORMAL' ? 'ok' : 'warn', detail: why }];
  if (restoring !== null) {
    const detail = `a restore of the backup of ${restoring} was not finished: restore it again with --force`;
    checks.push({ name: 'restore', verdict: 'fail', detail });
  }
  checks.push(
    await epoch(redis, keys, nowMs),
    await worker(redis, keys),
    await outbox(options, nowMs),
    await dates(redis, keys, nowMs),
    await dust(redis, keys),
  );
  const lost = Number(failed ?? 0);
  const settled = `${unsettled} settlements are not CONFIRMED, ${lost} have FAILED so far`;
  return [...checks, { name: 'settlement', verdict: lost > 0 ? 'warn' : 'ok', detail: settled }];
}
