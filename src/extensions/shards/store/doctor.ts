import type { Redis } from 'ioredis';
import { formatMicro } from '../../../exchange/units';
import {
  type Check,
  clocks,
  type DoctorOptions,
  examineContent,
  examineServer,
  type Silences,
  timeOf,
  unlessSilent,
} from '../../../store/health/doctor';
import { examineSlots } from '../../../store/health/doctor-cluster';
import { readMode } from '../../../store/health/health';
import { silenceOf } from '../../../store/health/silence';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import { holderOf, nameOf, placeOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { listChannels } from './list';

interface ShardsOptions extends Omit<DoctorOptions, 'keys'> {
  readonly shards: readonly Keys[];
  readonly silences: Silences;
}

/** The most different details in one line. */
const DETAILS_MAX = 2;

/** A worker takes what was left on its way within seconds. */
const TRANSIT_WARN_MS = 30_000;
/** A process that broadcasts writes what it read into the logs of all homes every 10 s. */
const MARK_WARN_MS = 30_000;

/** Asks every shard at once, and waits for none of them longer than for a person. */
export async function findSilences(redis: RedisClient, shards: readonly Keys[]): Promise<Silences> {
  const found = await Promise.all(shards.map((keys) => silenceOf(() => redis.exists(keys.epoch))));
  return new Map(found.flatMap((why, shard): [number, string][] => (why === null ? [] : [[shard, why]])));
}

/** The node that has a shard, for an operator. */
const nodeOf = (redis: RedisClient, keys: Keys): string => placeOf(redis, keys) ?? 'its node';

/** The shards that do not answer, with their nodes, in words. */
export async function nameSilent(redis: RedisClient, shards: readonly Keys[]): Promise<readonly string[]> {
  const silent = [...(await findSilences(redis, shards)).keys()];
  const words = silent.map(
    (shard) => `shard ${shard} at ${nodeOf(redis, shards[shard] as Keys)} does not answer`,
  );
  return words.length === 0 ? [] : [words.join(', ')];
}

/**
 * The checks of several shards: each Redis that has one, each shard, and the channels between them. A shard that does not answer is a
 * check that fails, and no error. Reads only.
 */
export async function examineShards(options: ShardsOptions): Promise<readonly Check[]> {
  const { redis, shards, silences } = options;
  const ofShard = async (keys: Keys, shard: number): Promise<readonly Check[]> => {
    const why = silences.get(shard);
    if (why !== undefined)
      return [{ name: 'shard', verdict: 'fail', detail: `${nodeOf(redis, keys)} does not answer: ${why}` }];
    return unlessSilent('shard', () => examineShard({ ...options, keys }));
  };
  return [
    ...(await examineServers(options)),
    ...together(await Promise.all(shards.map(ofShard))),
    ...(await unlessSilent('mode', () => modes(options))),
    ...(await amongAll(options, 'channels', channels)),
    ...(await amongAll(options, 'account logs', marks)),
  ];
}

/** A look that needs every shard. */
async function amongAll(
  options: ShardsOptions,
  name: string,
  look: (options: ShardsOptions) => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  if (options.silences.size === 0) return unlessSilent(name, () => look(options));
  return [{ name, verdict: 'warn', detail: 'not looked at, because a shard does not answer' }];
}

/** One Redis has its checks under their usual names; those of several have the name of the node in theirs. */
async function examineServers(options: ShardsOptions): Promise<readonly Check[]> {
  const { redis, shards, isProduction } = options;
  const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
  const why = await Promise.all(nodes.map((node) => silenceOf(() => node.ping())));
  const masters = nodes.filter((_, i) => why[i] === null);
  const silent = nodes.flatMap((node, i): Check[] => {
    const detail = why[i];
    return typeof detail === 'string' ? [{ name: `redis ${nameOf(node)}`, verdict: 'fail', detail }] : [];
  });
  const holders = masters.filter((node) => shards.some((keys) => isHolder(redis, keys, node)));
  const found = await Promise.all(
    holders.map(async (node) => {
      const checks = await unlessSilent('redis', () => examineServer(node, options));
      return nodes.length === 1
        ? checks
        : checks.map((check) => ({ ...check, name: `${check.name} ${nameOf(node)}` }));
    }),
  );
  return [
    ...silent,
    ...found.flat(),
    ...(nodes.length === 1 ? [] : await unlessSilent('clocks', () => clocks(masters))),
    ...(await unlessSilent('cluster', () => examineSlots(redis, masters, shards, isProduction))),
  ];
}

function isHolder(redis: RedisClient, keys: Keys, node: Redis): boolean {
  try {
    return holderOf(redis, keys) === node;
  } catch {
    // No node has the slot: the check of the slot says so.
    return false;
  }
}

async function examineShard(options: DoctorOptions): Promise<readonly Check[]> {
  const { redis, keys } = options;
  const checks = await examineContent(options, await timeOf(holderOf(redis, keys)));
  // The mode is that of the exchange, and every shard is compared with it.
  return checks.filter(({ name }) => name !== 'mode');
}

/** A check that is fine in several shards is one line; each other one names its shard. */
function together(ofShards: readonly (readonly Check[])[]): Check[] {
  const names = [...new Set(ofShards.flatMap((checks) => checks.map(({ name }) => name)))];
  return names.flatMap((name): Check[] => {
    const found = ofShards.flatMap((checks, shard) =>
      checks.filter((check) => check.name === name).map((check) => ({ check, shard })),
    );
    const fine = found.filter(({ check }) => check.verdict === 'ok');
    return [
      ...(fine.length > 0 ? [{ name, verdict: 'ok', detail: toldOf(fine, ofShards.length) } as const] : []),
      ...found
        .filter(({ check }) => check.verdict !== 'ok')
        .map(({ check, shard }) => ({ ...check, name: `${name}-${shard}` })),
    ];
  });
}

interface OfShard {
  readonly check: Check;
  readonly shard: number;
}

/** Equal details become one; when there are many, only the numbers of the shards are given. */
function toldOf(fine: readonly OfShard[], count: number): string {
  const which = (some: readonly OfShard[]): string => {
    const names = some.map(({ shard }) => shard).join(', ');
    return some.length === count
      ? `all ${count} shards`
      : `${some.length === 1 ? 'shard' : 'shards'} ${names}`;
  };
  const details = [...new Set(fine.map(({ check }) => check.detail))];
  if (details.length > DETAILS_MAX) return which(fine);
  return details
    .map((detail) => `${which(fine.filter(({ check }) => check.detail === detail))}: ${detail}`)
    .join('; ');
}

async function modes({ redis, shards, silences }: ShardsOptions): Promise<Check[]> {
  const [intended, ...others] = await Promise.all(
    shards.map((keys, shard) => (silences.has(shard) ? null : readMode(redis, keys))),
  );
  if (!intended) return [];
  const { mode, message } = intended;
  const why = message === null ? mode : `${mode}: ${message}`;
  const different = others.flatMap((other, i): Check[] => {
    if (!other || other.mode === mode) return [];
    const detail = `${other.mode}, and the exchange is ${mode}: a worker sets it within a second; does one run?`;
    return [{ name: `mode-${i + 1}`, verdict: 'warn', detail }];
  });
  return [{ name: 'mode', verdict: mode === 'NORMAL' ? 'ok' : 'warn', detail: why }, ...different];
}

async function channels({ redis, shards }: ShardsOptions): Promise<Check[]> {
  const found = await listChannels({ redis, shards });
  const broken = found.filter(({ isBroken }) => isBroken);
  const late: string[] = [];
  for (const { from, to, isBroken } of found) {
    const ageMs = isBroken ? 0 : await oldestMs(redis, shards[from] as Keys, shards[to] as Keys, from, to);
    if (ageMs > TRANSIT_WARN_MS) late.push(`${from} to ${to} for ${Math.round(ageMs / 1_000)} s`);
  }
  const onItsWay = found.reduce((sum, { inTransitMicro }) => sum + inTransitMicro, 0n);
  const total = `${found.length} channels were used, ${formatMicro(onItsWay)} is on its way`;
  const name = 'channels';
  return [
    ...broken.map(({ from, to }): Check => {
      const detail = `shard ${from} lost collateral that shard ${to} has taken: see exchange shards list, and the runbook`;
      return { name: `${name}-${from}-${to}`, verdict: 'fail', detail };
    }),
    late.length > 0
      ? { name, verdict: 'warn', detail: `${total}, from shard ${late.join(', ')}: does a worker run?` }
      : { name, verdict: 'ok', detail: total },
  ];
}

/** The age of the oldest entry that is not taken, by the clock of the shard that sent it. */
async function oldestMs(
  redis: RedisClient,
  donor: Keys,
  target: Keys,
  from: number,
  to: number,
): Promise<number> {
  const mark = (await redis.hget(target.taken, String(from))) ?? NO_ENTRY;
  return ageOf(redis, donor, donor.channel(to), mark);
}

/** The age of the first entry behind the mark; 0 without one. */
async function ageOf(redis: RedisClient, keys: Keys, stream: string, mark: string): Promise<number> {
  const [entry] = await redis.xrange(stream, `(${mark}`, '+', 'COUNT', 1);
  if (!entry) return 0;
  return (await timeOf(holderOf(redis, keys))) - Number(entry[0].split('-')[0]);
}

/** Whether the logs of wallets have what every shard wrote (src/extensions/shards/lua/log_shard_events.lua). */
async function marks({ redis, shards }: ShardsOptions): Promise<Check[]> {
  const name = 'account logs';
  const late: string[] = [];
  let homes = 0;
  for (const [home, keys] of shards.entries()) {
    const stored = await redis.hgetall(keys.accountMarks);
    if (Object.keys(stored).length > 0) homes++;
    for (const [shard, source] of shards.entries()) {
      const mark = stored[`${shard}:logged`];
      if (mark === undefined || !isBefore(NO_ENTRY, mark)) continue;
      const ageMs = await ageOf(redis, source, source.outbox, mark);
      if (ageMs > MARK_WARN_MS)
        late.push(`home ${home} lacks what shard ${shard} wrote ${Math.round(ageMs / 1_000)} s ago`);
    }
  }
  if (late.length > 0)
    return [{ name, verdict: 'warn', detail: `${late.join('; ')}: does a web process run?` }];
  const detail = homes === 0 ? 'no wallet listens' : `open at ${homes} homes, with what every shard wrote`;
  return [{ name, verdict: 'ok', detail }];
}
