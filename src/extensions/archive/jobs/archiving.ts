import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../config/load';
import type { Logger } from '../../../log';
import { createSpread } from '../../../store/outbox/spread';
import type { Clock } from '../../../store/redis/clock';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { Archive } from '../archive';
import { createForgetting, Fenced, type Forgetting, PICK_MS } from '../store/forgetting';
import { createMarketForgetting } from '../store/markets';
import { dropOldMonths } from '../store/retention';
import { openSource, type Source } from '../store/source';

interface ArchivingOptions {
  readonly forgetting: Forgetting;
  readonly openSource: () => Promise<Source>;
  /** The other work of the holder of the lease, now and then. */
  readonly upkeep?: (token: string) => Promise<void>;
  readonly onError: (error: Error) => void;
  /** The time between two looks at a lease that another process has. */
  readonly lookMs?: number;
  /** How long `stop` waits for what has begun. */
  readonly stopMs?: number;
}

/** How long after the end of the holder of the lease another process takes over. */
const LEASE_MS = 10_000;
const RENEW_MS = 2_000;
/** Orders and matches gather for this long, so that a transaction has many of them. */
const PAUSE_MS = 500;
const UPKEEP_EVERY_MS = 60_000;
const AFTER_ERROR_MS = 2_000;
/** Within the time that a process has to stop (src/app/process.ts). */
const STOP_MS = 3_000;

/**
 * Moves orders, matches and lines that are over into the archive, in one process at a time. The place in the outbox moves on behind
 * them: a process that dies in between leaves some that are found again.
 */
export function startArchiving({
  forgetting,
  openSource,
  upkeep,
  onError,
  lookMs = RENEW_MS,
  stopMs = STOP_MS,
}: ArchivingOptions): {
  stop(): Promise<void>;
} {
  const { lease, move } = forgetting;
  const stopping = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Each time another one: a call of an earlier time that comes late forgets nothing.
      const token = randomUUID();
      try {
        if (await lease.take(token, LEASE_MS)) await work(token).finally(() => release(token));
        else await pause(lookMs);
      } catch (error) {
        // Another process goes on, or the exchange is halted: nothing is wrong.
        if (!(error instanceof Fenced)) onError(asError(error));
        await pause(AFTER_ERROR_MS);
      }
    }
  }

  /** When Redis does not answer, the lease ends by itself. */
  const release = (token: string): Promise<void> => lease.release(token).catch(() => undefined);

  /** Until the lease is lost. */
  async function work(token: string): Promise<void> {
    await forgetting.open();
    const source = await openSource();
    let position = await lease.position();
    let keptUpAt = Number.NEGATIVE_INFINITY;
    while (!stopping.signal.aborted) {
      const found = await source.next();
      await renewing(token, position, move(token, found.leaving));
      await source.done(found);
      position = found.position;
      if (!(await lease.renew(token, LEASE_MS, position))) return;
      if (performance.now() - keptUpAt > UPKEEP_EVERY_MS) {
        await renewing(token, position, keepUp(token));
        keptUpAt = performance.now();
      }
      if (!found.more) await pause(PAUSE_MS);
    }
  }

  /** Keeps the lease while something goes on that may take longer than its life, such as a transaction on a busy disk. */
  async function renewing(token: string, position: string, done: Promise<unknown>): Promise<void> {
    const renew = () => void lease.renew(token, LEASE_MS, position).catch(() => undefined);
    const timer = setInterval(renew, RENEW_MS);
    await done.finally(() => clearInterval(timer));
  }

  /** A failure here stops nothing: the next turn tries again. */
  async function keepUp(token: string): Promise<void> {
    await forgetting.dropTraces();
    await upkeep?.(token).catch((error: unknown) => onError(asError(error)));
  }

  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  return {
    async stop() {
      stopping.abort();
      const limit = setTimeout(forgetting.breakOff, stopMs);
      await running.finally(() => clearTimeout(limit));
    },
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** The time between two looks at the lease of one of several shards. */
const SHARD_LOOK_MS = 250;

interface ArchivedStore {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly clock: Clock;
  readonly shards: readonly { readonly keys: Keys; readonly archive: Archive | null }[];
  /** The other readers of the outbox. */
  readonly readers: readonly string[];
}

/** Moves what is over into the archive, shard by shard: each has a lease of its own. */
export function archiveShards(
  { archiveKeepMonths: months }: Pick<Config, 'archiveKeepMonths'>,
  { redis, run, clock, shards, readers }: ArchivedStore,
  log: Logger,
) {
  // Entries of streams are named by whole milliseconds.
  const now = (): number => Math.floor(clock.now());
  const spread = createSpread(shards.length);
  const running = shards.flatMap(({ keys, archive }) => {
    if (!archive) return [];
    const forgetting = createForgetting({ redis, run, keys, archive });
    const { commit } = forgetting;
    const markets = createMarketForgetting({ redis, run, keys, now, commit });
    return startArchiving({
      forgetting: { ...forgetting, lease: spread(forgetting.lease) },
      async upkeep(token) {
        await markets.forgetEnded(token);
        const rows = await dropOldMonths(archive, months, now());
        if (rows > 0) log.info({ rows, months }, 'months of the archive were dropped for their age');
      },
      openSource: () => openSource({ redis, keys, now, readers, keepMs: PICK_MS }),
      onError: (error) => log.warn({ err: error.message }, 'archive'),
      ...(shards.length > 1 && { lookMs: SHARD_LOOK_MS }),
    });
  });
  return {
    async stop(): Promise<void> {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
