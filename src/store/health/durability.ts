import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { isDemoted } from '../redis/demotion';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import { holderOf } from '../redis/holder';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { infoOf, replicaLagsOf } from './info';

/**
 * The acknowledged writes that a crashing Redis keeps: all, also at a failover; all; all but about the last second; possibly
 * none; or unknown, because Redis does not show it and no operator has stated it.
 */
const DURABILITIES = ['replicated', 'always', 'everysec', 'none', 'unknown'] as const;
export type Durability = (typeof DURABILITIES)[number];
/** DURABILITY: `replicated`, or the operator's statement for a Redis that does not show its settings. */
export type Promised = 'replicated' | 'always' | 'everysec' | null;

/** The durability that the exchange has with the current settings of Redis. */
export interface DurabilityState {
  readonly durability: Durability;
  /** `maxmemory-policy`; null where neither CONFIG nor INFO shows it. */
  readonly eviction: string | null;
  /** With DURABILITY=replicated: the bytes that the last of REDIS_REPLICAS is behind; null while fewer follow, and in other modes. */
  readonly replicaLagBytes: number | null;
  /** Why a failover could lose what was answered, in spite of DURABILITY=replicated. */
  readonly gap: string | null;
  /** Names the unbroken history of the data; it changes when acknowledged writes may be missing. */
  readonly epoch: string;
  /** Whether the data never had another epoch. */
  readonly isFirst: boolean;
  /** When it began, by the clock of Redis; 0 for data of a program that did not note it. */
  readonly sinceMs: number;
  /** When a process noticed that all data was gone; null once an operator has accepted it. */
  readonly lostMs: number | null;
  /** False from the loss of a connection until the next check, because another Redis may respond now. */
  readonly isCertain: boolean;
}

export interface DurabilityChecks {
  /** The result of the last check; null before the first. */
  current(): DurabilityState | null;
  /** Asks Redis now; rejects when Redis does not respond. */
  refresh(): Promise<DurabilityState>;
  /** Called when the history broke while this process ran. */
  onEpoch(listener: (epoch: string, before: string) => void): void;
  /**
   * The number of doubts so far. A doubt means that data read before it and data read after it may belong to different
   * histories. The number rises when the connection to Redis is lost, and on a new epoch. A cache stores its values under
   * this number and returns them only under the same number.
   */
  doubts(): number;
  /** How long Redis has refused to write because it is a replica, or loads its primary's data; 0 while it does not. */
  refusedForMs(): number;
  start(): void;
  stop(): void;
}

/** The checks of one partition. */
export interface PartitionDurabilityChecks extends DurabilityChecks {
  /** Notes an entry of the outbox that this process has read: when it is missing later, the history is broken. */
  saw(entryId: string): void;
}

interface Options {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly promised: Promised;
  /** The replicas that confirm; 0 unless `promised` is `replicated`. */
  readonly replicas?: number;
}

const EVERY_MS = 2_000;
const EPOCH_BYTES = 8;
/** The most checks of a book that moves between nodes meanwhile. */
const TRIES_MAX = 3;
/** What renew_epoch takes a crash for, where it may lose no acknowledged write. */
const LOSSES: Partial<Readonly<Record<Durability, number>>> = { always: 0, replicated: 2 };
/** A connection ended; on a cluster, the connection to one node. */
const LOST = ['close', '-node'] as const;
const SETTINGS = ['appendonly', 'appendfsync', 'aof-load-truncated', 'maxmemory-policy'] as const;

export function createDurabilityChecks({
  redis,
  run,
  keys,
  promised,
  replicas = 0,
}: Options): PartitionDurabilityChecks {
  const listeners: ((epoch: string, before: string) => void)[] = [];
  let standing: DurabilityState | null = null;
  let looking: Promise<DurabilityState> | null = null;
  let doubts = 0;
  let timer: NodeJS.Timeout | undefined;
  /** By performance.now(). */
  let refusedAtMs: number | null = null;
  /** The latest entry of the outbox that this process has seen in the present epoch. */
  let seen = NO_ENTRY;

  function saw(entryId: string): void {
    if (isBefore(seen, entryId)) seen = entryId;
  }

  async function look(): Promise<DurabilityState> {
    const before = standing?.epoch;
    const [found, last] = await lookAtHolder(before ?? '');
    standing = found;
    const { epoch } = found;
    if (before !== undefined && before !== epoch) {
      doubts++;
      seen = NO_ENTRY;
      for (const listener of listeners) listener(epoch, before);
    }
    saw(last);
    return standing;
  }

  /** The standing, and the latest entry of the outbox. */
  async function lookAtHolder(known: string): Promise<[DurabilityState, string]> {
    for (let tries = 1; ; tries++) {
      const holder = holderOf(redis, keys);
      const settings = await settingsOf(holder);
      const durability = durabilityOf(settings, promised);
      const fresh = randomBytes(EPOCH_BYTES).toString('hex');
      const args = [fresh, LOSSES[durability] ?? 1, known, seen] as const;
      const reply = await run('renew_epoch', [keys.epoch, keys.markets, keys.outbox], args);
      const [name, first, sinceMs, lostMs, last] = reply;
      // If the book moved meanwhile, its new node must be checked.
      if (holderOf(redis, keys) !== holder && tries < TRIES_MAX) continue;
      const eviction = settings.get('maxmemory-policy') ?? null;
      const epoch = name.toString();
      const lags = replicas > 0 ? replicaLagsOf(await infoOf(holder)) : [];
      const found = {
        durability,
        eviction,
        replicaLagBytes: lags[replicas - 1] ?? null,
        gap: gapOf(lags.length, replicas, holder),
        epoch,
        isFirst: first === 1,
        sinceMs,
        lostMs: lostMs || null,
      };
      return [{ ...found, isCertain: true }, last.toString()];
    }
  }

  function refresh(): Promise<DurabilityState> {
    looking ??= look()
      .then(
        (found) => {
          refusedAtMs = null;
          return found;
        },
        (error: unknown) => {
          refusedAtMs = isDemoted(error) ? (refusedAtMs ?? performance.now()) : null;
          throw error;
        },
      )
      .finally(() => {
        looking = null;
      });
    return looking;
  }

  function lose(): void {
    doubts++;
    if (standing) standing = { ...standing, isCertain: false };
  }

  // Without Redis there is nothing to report; the next check reports.
  const lookAgain = (): void => void refresh().catch(() => undefined);

  return {
    current: () => standing,
    refresh,
    onEpoch: (listener) => void listeners.push(listener),
    doubts: () => doubts,
    saw,
    refusedForMs: () => (refusedAtMs === null ? 0 : performance.now() - refusedAtMs),
    start() {
      redis.on('ready', lookAgain);
      for (const lost of LOST) redis.on(lost, lose);
      timer = setInterval(lookAgain, EVERY_MS);
      timer.unref();
    },
    stop() {
      redis.off('ready', lookAgain);
      for (const lost of LOST) redis.off(lost, lose);
      clearInterval(timer);
    },
  };
}

/** The settings that a server shows; a managed server may show few. */
export type Settings = ReadonlyMap<string, string>;

/** The relevant settings of this node; rejects when it does not respond. */
export async function settingsOf(redis: Redis): Promise<Settings> {
  const replies = await Promise.all(SETTINGS.map((name) => unlessClosed(redis.call('CONFIG', 'GET', name))));
  const settings = new Map(
    replies.flatMap((reply): [string, string][] => {
      const [name, value] = Array.isArray(reply) ? (reply as string[]) : [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
  if (settings.has('maxmemory-policy')) return settings;
  const memory = String(await unlessClosed(redis.info('memory')));
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  return policy === undefined ? settings : settings.set('maxmemory-policy', policy);
}

/** Null for a command that this server, or its user, does not have. */
async function unlessClosed(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && /unknown|NOPERM|not allowed|not supported/i.test(error.message))
      return null;
    throw error;
  }
}

/** A setting that Redis shows takes precedence over the operator's statement; `appendfsync no` promises nothing. */
export function durabilityOf(settings: Settings, promised: Promised): Durability {
  const isKept = settings.get('appendonly');
  const policy = settings.get('appendfsync');
  if (isKept === undefined || (isKept === 'yes' && policy === undefined)) return promised ?? 'unknown';
  if (isKept !== 'yes') return 'none';
  if (policy === 'always' && promised === 'replicated') return promised;
  return policy === 'always' || policy === 'everysec' ? policy : 'none';
}

const ADVICE: Readonly<Record<Exclude<Durability, 'always' | 'replicated'>, string>> = {
  everysec: 'set appendonly yes and appendfsync always',
  none: 'set appendonly yes and appendfsync always',
  unknown:
    'it does not show its settings; if its provider promises to keep every write, set DURABILITY=always',
};

/** Returns the reason why this is too weak for production; null when it is not. */
export function weaknessOf({ durability, eviction }: DurabilityState): string | null {
  if (durability !== 'always' && durability !== 'replicated') {
    return `what it answered can be lost (durability ${durability}): ${ADVICE[durability]}`;
  }
  if (eviction !== 'noeviction') {
    return `it may throw records away (maxmemory-policy ${eviction ?? 'unknown'}): set noeviction`;
  }
  return null;
}

/** Sentinels promote any replica, also one that has not confirmed. */
export const gapOf = (following: number, confirming: number, { options }: Redis): string | null =>
  confirming > 0 && options.sentinels && following > confirming
    ? `${following} replicas follow, and Sentinels may promote one that has not confirmed: set REDIS_REPLICAS=${following}`
    : null;

/** Returns why this data must not be served before an operator has looked; null when it may. */
export const lossOf = ({ lostMs }: Pick<DurabilityState, 'lostMs'>): string | null =>
  lostMs === null
    ? null
    : `Redis lost its data, as a process noticed at ${new Date(lostMs).toISOString()}: put back a backup, or go on without it with: exchange accept-loss (docs/run/runbook.md#exchangedatalost)`;

/** The time that a process has to reach a primary by itself. */
const REFUSED_MS_MAX = 120_000;

/** Returns why this process should be started again; null while it should not. */
export const stuckOf = (refusedForMs: number): string | null =>
  refusedForMs > REFUSED_MS_MAX
    ? `Redis has refused writes as a replica for ${Math.round(refusedForMs / 1_000)} s: start this process again, and look where the name of REDIS_URL leads`
    : null;
