import type { AuditReport } from '../../../exchange/audit';
import type { Audit } from '../../../store/audit/audit';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { checkChannels } from './check-channels';

interface AuditOverOptions {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
  /** Audit of each shard by itself. */
  readonly parts: readonly Audit[];
}

/**
 * Each shard is audited by itself, one after the other because an audit holds a shard's orders in memory, and then the collateral
 * between them. Only one audit runs at a time; a caller that comes meanwhile gets the same answer.
 */
export function auditOverShards(options: AuditOverOptions): Audit {
  let running: Promise<AuditReport> | null = null;
  return () => {
    running ??= auditAll(options).finally(() => {
      running = null;
    });
    return running;
  };
}

async function auditAll({ redis, shards, parts }: AuditOverOptions): Promise<AuditReport> {
  const reports: AuditReport[] = [];
  for (const part of parts) reports.push(await part());
  const between = await checkChannels({ redis, shards });
  const sum = (of: (checked: AuditReport['checked']) => number): number =>
    reports.reduce((so, { checked }) => so + of(checked), 0);
  const differences = [...reports.flatMap((report) => report.differences), ...between.differences];
  return {
    ok: differences.length === 0,
    checked: {
      orders: sum(({ orders }) => orders),
      balances: sum(({ balances }) => balances),
      markets: sum(({ markets }) => markets),
      fills: sum(({ fills }) => fills),
    },
    differences,
  };
}
