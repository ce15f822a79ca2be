import { MODES, type Mode } from '../../exchange/status';
import type { RecordArchive } from '../lists/archived-reads';
import { NO_MARKET } from '../outbox/outbox';
import type { Clock } from '../redis/clock';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { type DurabilityChecks, type DurabilityState, lossOf } from './durability';
import { type Layout, readLayout, unreadable } from './layout';

/** The state of the store, for /readyz and /config. */
export interface Health {
  readonly redis: boolean;
  /** Whether the scripts of this version run on that Redis. */
  readonly scripts: boolean;
  readonly standing: DurabilityState;
  readonly layout: Layout;
  /** Whether the archive answers; null without one. */
  readonly archive: boolean | null;
  /** Why this data must not be served: this program cannot read it, or what belongs to it is lost. Null when it may. */
  readonly problem: string | null;
  /** Which of several partitions answer. */
  readonly shards?: readonly boolean[];
}

/** How /readyz names the partitions; a single one is not named. */
export const upOf = (
  shards: Health['shards'],
): { readonly shards?: Readonly<Record<string, 'up' | 'down'>> } =>
  shards ? { shards: Object.fromEntries(shards.map((is, shard) => [shard, is ? 'up' : 'down'])) } : {};

/** The mode of the exchange, and the operator's message about it. */
export interface ModeFacts {
  readonly mode: Mode;
  readonly message: string | null;
}

export async function readMode(redis: RedisClient, keys: Keys): Promise<ModeFacts> {
  // Two commands, because one command with both keys fails while the slot moves and neither key exists.
  const [code, notice] = await Promise.all([redis.get(keys.mode), redis.get(keys.notice)]);
  const mode = MODES[Number(code)] ?? 'NORMAL';
  const isOfMode = notice?.startsWith(String(MODES.indexOf(mode)));
  return { mode, message: notice && isOfMode ? notice.slice(1) : null };
}

/** Runs a script without effect; rejects when it cannot run. Resolves with the time of Redis in milliseconds. */
export async function runProbe(run: RunScript, keys: Keys): Promise<number> {
  const scriptKeys = [keys.market(NO_MARKET), keys.trades(NO_MARKET), keys.markets] as const;
  const [nowMs] = await run('read_market', scriptKeys, [NO_MARKET, 0]);
  return Number(nowMs);
}

interface HealthDeps {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly durability: Pick<DurabilityChecks, 'refresh'>;
  readonly archive: Pick<RecordArchive, 'health'>;
}

/** Asks Redis now; rejects when Redis does not respond. */
export function createHealth({ redis, run, keys, clock, durability, archive }: HealthDeps) {
  async function probe(): Promise<void> {
    const askedAt = performance.now();
    clock.observe(await runProbe(run, keys), askedAt);
  }

  return async (): Promise<Health> => {
    const [layout, standing, { answers, conflict }] = await Promise.all([
      readLayout(redis, keys),
      durability.refresh(),
      archive.health(),
      probe(),
    ]);
    const problem = unreadable(layout) ?? lossOf(standing) ?? standing.gap ?? conflict;
    return { redis: true, scripts: true, standing, layout, archive: answers, problem };
  };
}
