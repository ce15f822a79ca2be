import type { Config } from '../config/load';
import type { ChainScale } from '../exchange/order';
import type { Micro } from '../exchange/units';
import { type Audit, type AuditCheck, createAudit } from './audit/audit';
import { createHistory, type History } from './candles/history';
import { createDurabilityChecks, type ShardDurabilityChecks } from './health/durability';
import type { ArchivedReads, ShardArchive } from './lists/archived-reads';
import { type AccountLogs, createAccountLogs } from './outbox/account-log';
import { createOutboxLag, type LagGauge } from './outbox/lag';
import { type Broadcasts, createBroadcasts } from './outbox/update-log';
import { createJoining, type Joining, joinWithoutGrant } from './people/joining';
import { type Actions, createActions } from './people/operator-log';
import { createPresence, type Presence } from './people/presence';
import { createAnswerCache } from './reads/answer-cache';
import { createMarketList, type MarketList } from './reads/market-list';
import { createReads, type Reads } from './reads/reads';
import type { Clock } from './redis/clock';
import type { Keys } from './redis/keys';
import type { RedisClient, RunScript } from './redis/scripts';
import { createMatches, type Matches } from './settlement/matches';
import { createSettlements, type Settlements } from './settlement/settlements';

/** The same for every shard. */
export interface SharedParts {
  readonly config: Config;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly clock: Clock;
  readonly scale: ChainScale;
  readonly checksum: (address: string) => string;
  /** The balance of an unknown wallet. */
  readonly grantMicro: Micro;
  readonly archive: ShardArchive;
  /** The readers of the outbox. */
  readonly readers: readonly string[];
  /** The checks that extensions add to the audit. */
  readonly auditChecks: readonly AuditCheck[];
}

/** The parts that keep and read the data of one shard. With one shard they are the store's. */
export interface ShardParts {
  readonly keys: Keys;
  readonly archive: ShardArchive;
  readonly archivedReads: ArchivedReads;
  readonly standings: ShardDurabilityChecks;
  readonly history: History;
  readonly reads: Reads;
  readonly marketList: MarketList;
  readonly settlements: Settlements;
  readonly matches: Matches;
  readonly joining: Joining;
  readonly presence: Presence;
  readonly actions: Actions;
  readonly broadcasts: Broadcasts;
  readonly accounts: AccountLogs;
  readonly outboxLag: LagGauge;
  readonly audit: Audit;
}

interface Door extends SharedParts {
  readonly keys: Keys;
}

function openJoining(slotKey: Door): Joining {
  const { redis, keys, clock, config } = slotKey;
  const { chain, grantOn, paperGrantMicro } = config;
  const joinGrantMicro = grantOn === 'sign-in' ? paperGrantMicro : 0;
  const joining = createJoining({ ...slotKey, joinGrantMicro });
  return chain === null ? joining : { ...joining, join: joinWithoutGrant(redis, keys, clock.now) };
}

export function openShard(shared: SharedParts, keys: Keys): ShardParts {
  const slotKey: Door = { ...shared, keys };
  const { config, redis, run, clock, checksum, archive, readers } = slotKey;
  const { funds } = config;
  const archivedReads = archive.reads;
  const standings = createDurabilityChecks({
    redis,
    run,
    keys,
    promised: config.durability,
    replicas: config.replicas,
  });
  const { doubts } = standings;
  const history = createHistory({ ...slotKey, doubts, archivedReads });
  const kept = createAnswerCache({ redis, keys, clock, doubts });
  const reads = createReads({ ...slotKey, kept, doubts, history, archivedReads, funds });
  const settlements = createSettlements({ redis, run, keys, archivedReads, funds, checksum });
  const matches = createMatches({ redis, run, keys, settlements, archivedReads, funds, saw: standings.saw });
  return {
    keys,
    archive,
    archivedReads,
    standings,
    history,
    reads,
    marketList: createMarketList({ ...slotKey, history, doubts, view: reads.view }),
    settlements,
    matches,
    joining: openJoining(slotKey),
    presence: createPresence(slotKey),
    actions: createActions(slotKey),
    broadcasts: createBroadcasts({ redis, run, keys, archivedReads }),
    accounts: createAccountLogs(slotKey),
    outboxLag: createOutboxLag({ redis, keys, readers, now: clock.now }),
    audit: createAudit({ ...slotKey, archivedReads }),
  };
}
