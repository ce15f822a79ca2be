import type { AuditReport } from '../../exchange/audit';
import type { Audit } from '../audit/audit';

/**
 * Each shard is audited by itself, one after the other because an audit holds a shard's orders in memory. `checkChannels` checks
 * the collateral between shards.
 */
export const auditOverShards =
  (parts: readonly Audit[]): Audit =>
  async () => {
    const reports: AuditReport[] = [];
    for (const part of parts) reports.push(await part());
    const sum = (of: (checked: AuditReport['checked']) => number): number =>
      reports.reduce((so, { checked }) => so + of(checked), 0);
    return {
      ok: reports.every(({ ok }) => ok),
      checked: {
        orders: sum(({ orders }) => orders),
        balances: sum(({ balances }) => balances),
        markets: sum(({ markets }) => markets),
        fills: sum(({ fills }) => fills),
      },
      differences: reports.flatMap(({ differences }) => differences),
    };
  };
