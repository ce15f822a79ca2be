import type { DurabilityChecks } from '../../../store/health/durability';
import { infoOf, number } from '../../../store/health/info';
import { type LastRun, readRuns } from '../../../store/health/runs';
import type { OutboxLag } from '../../../store/outbox/lag';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** The state of the exchange, for an operator. */
export interface Overview {
  readonly redis: {
    readonly usedBytes: number;
    /** Null without a limit. */
    readonly maxBytes: number | null;
    readonly durability: string;
    readonly eviction: string | null;
  };
  readonly outbox: OutboxLag;
  readonly settlements: {
    readonly unconfirmed: number;
    readonly failed: number;
    /** Age of the oldest settlement that is not confirmed; null when all are. */
    readonly oldestSeconds: number | null;
  };
  readonly lastAudit: LastRun;
}

interface OverviewDeps {
  readonly redis: RedisClient;
  /** The keys of the first partition. */
  readonly keys: Keys;
  readonly partitions: readonly { readonly keys: Keys }[];
  readonly outboxLag: { look(): Promise<OutboxLag> };
  readonly settlements: {
    counts(): Promise<{ unsettled: number; oldestMs: number | null; failed: number }>;
  };
  readonly durability: Pick<DurabilityChecks, 'refresh'>;
  readonly now: () => number;
}

/** The memory of every Redis that has a partition. */
export async function memoryOf({ redis, partitions }: Pick<OverviewDeps, 'redis' | 'partitions'>) {
  const holders = [...new Set(partitions.map(({ keys }) => holderOf(redis, keys)))];
  const infos = await Promise.all(holders.map((holder) => infoOf(holder)));
  const limits = infos.map((info) => number(info, 'maxmemory'));
  return {
    usedBytes: infos.reduce((sum, info) => sum + number(info, 'used_memory'), 0),
    maxBytes: limits.includes(0) ? null : limits.reduce((sum, bytes) => sum + bytes, 0),
  };
}

/** Reads Redis now; rejects when Redis does not respond. */
export function createOverview(deps: OverviewDeps) {
  const { outboxLag, settlements, now } = deps;
  return async (): Promise<Overview> => {
    const [memory, outbox, counts, { durability, eviction }, runs] = await Promise.all([
      memoryOf(deps),
      outboxLag.look(),
      settlements.counts(),
      deps.durability.refresh(),
      readRuns(deps),
    ]);
    const { unsettled, oldestMs, failed } = counts;
    return {
      redis: {
        ...memory,
        durability,
        eviction,
      },
      outbox,
      settlements: {
        unconfirmed: unsettled,
        failed,
        oldestSeconds: oldestMs === null ? null : Math.max(0, Math.round((now() - oldestMs) / 1_000)),
      },
      lastAudit: runs.audit,
    };
  };
}
