import type { OutboxLag } from '../outbox/lag';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';
import type { DurabilityChecks } from './durability';

/** The state of the exchange, for an operator. */
export interface Overview {
  readonly redis: {
    readonly usedBytes: number;
    /** Null without a limit. */
    readonly maxBytes: number | null;
    readonly durability: string;
    readonly eviction: string | null;
  };
  /** The problem in words. */
  readonly warnings: readonly { readonly name: string; readonly detail: string }[];
  readonly outbox: OutboxLag;
  readonly settlements: {
    readonly unconfirmed: number;
    readonly failed: number;
    /** Age of the oldest settlement that is not confirmed; null when all are. */
    readonly oldestSeconds: number | null;
  };
}

interface OverviewDeps {
  readonly redis: RedisClient;
  readonly outboxLag: { look(): Promise<OutboxLag> };
  readonly settlements: {
    counts(): Promise<{ unsettled: number; oldestMs: number | null; failed: number }>;
  };
  readonly standings: Pick<DurabilityChecks, 'refresh'>;
  readonly now: () => number;
  readonly watched: () => Promise<readonly Check[]>;
}

/** Asks Redis now; rejects when Redis does not respond. */
export function createOverview({ redis, outboxLag, settlements, standings, now, watched }: OverviewDeps) {
  return async (): Promise<Overview> => {
    const [info, outbox, counts, { durability, eviction }, checks] = await Promise.all([
      redis.info('memory'),
      outboxLag.look(),
      settlements.counts(),
      standings.refresh(),
      watched(),
    ]);
    const figure = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    const { unsettled, oldestMs, failed } = counts;
    return {
      redis: {
        usedBytes: figure('used_memory'),
        maxBytes: figure('maxmemory') || null,
        durability,
        eviction,
      },
      warnings: checks
        .filter(({ verdict }) => verdict !== 'ok')
        .map(({ name, detail }) => ({ name, detail })),
      outbox,
      settlements: {
        unconfirmed: unsettled,
        failed,
        oldestSeconds: oldestMs === null ? null : Math.max(0, Math.round((now() - oldestMs) / 1_000)),
      },
    };
  };
}
