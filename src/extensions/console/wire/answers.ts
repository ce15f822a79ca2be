import type { MarketTerms, OutcomeIndex } from '../../../exchange/market';
import type { Mode } from '../../../exchange/status';
import { formatMicro } from '../../../exchange/units';
import type { Warning } from '../../../http/warnings';
import type { LastRun } from '../../../store/health/runs';
import { isoOrNull } from '../../../wire/prices';

export interface OverviewFacts {
  readonly mode: Mode;
  readonly message: string | null;
  readonly replicas: number;
  readonly redis: {
    readonly usedBytes: number;
    readonly maxBytes: number | null;
    readonly durability: string;
    readonly eviction: string | null;
  };
  readonly warnings: readonly Warning[];
  readonly outbox: {
    readonly length: number;
    readonly added: number;
    readonly readers: readonly {
      readonly reader: string;
      readonly unprocessed: number;
      readonly seconds: number;
    }[];
  };
  readonly settlements: {
    readonly unconfirmed: number;
    readonly failed: number;
    readonly oldestSeconds: number | null;
  };
  readonly lastAudit: LastRun;
  readonly nowMs: number;
}

/** The body of GET /admin/overview. */
export const presentOverview = (facts: OverviewFacts) => ({
  mode: facts.mode,
  message: facts.message,
  replicas: facts.replicas,
  redis: facts.redis,
  warnings: facts.warnings,
  outbox: {
    length: facts.outbox.length,
    added: facts.outbox.added,
    readers: facts.outbox.readers.map(({ reader, unprocessed, seconds }) => ({
      reader,
      unprocessed,
      seconds: Math.round(seconds),
    })),
  },
  settlements: facts.settlements,
  lastAudit: {
    succeededAt: isoOrNull(facts.lastAudit.succeededMs || null),
    failedAt: isoOrNull(facts.lastAudit.failedMs || null),
  },
  timestamp: facts.nowMs,
});

export interface EndingFacts {
  readonly holders: number;
  readonly winners: number;
  readonly payoutMicro: bigint;
  readonly orders: number;
}

/** The body of GET /admin/markets/{id}/resolution. */
export const presentEnding = (facts: EndingFacts, { id }: MarketTerms, outcome: OutcomeIndex | null) => ({
  marketId: id,
  outcomeIndex: outcome,
  holders: facts.holders,
  winners: facts.winners,
  payout: formatMicro(facts.payoutMicro),
  orders: facts.orders,
});
