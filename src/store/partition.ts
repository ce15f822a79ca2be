import type { Config } from '../config/load';
import type { ChainScale } from '../exchange/order';
import type { Micro } from '../exchange/units';
import { type Audit, type AuditCheck, createAudit } from './audit/audit';
import { createHistory, type History } from './candles/history';
import { createDurabilityChecks, type PartitionDurabilityChecks } from './health/durability';
import { createHealth, type Health } from './health/health';
import type { ArchivedReads, RecordArchive } from './lists/archived-reads';
import { createMarkets, type Markets } from './markets/markets';
import { type AccountLogs, type AccountLogWriter, createAccountLogs } from './outbox/account-log';
import { createOutboxLag, type LagGauge } from './outbox/lag';
import { type Broadcasts, createBroadcasts } from './outbox/update-log';
import { createJoining, type Joining } from './people/joining';
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
import { createEngine, type Engine } from './verbs/engine';
import type { ChainPlacing } from './verbs/place';

/** What opens a partition. An extension that wraps the exchange replaces some of these. */
export interface PartitionOptions {
  readonly config: Config;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  /** Its number, from 0, and the number of all partitions of the exchange. */
  readonly number: number;
  readonly count: number;
  readonly clock: Clock;
  readonly scale: ChainScale;
  readonly checksum: (address: string) => string;
  /** The balance of an unknown wallet. */
  readonly grantMicro: Micro;
  /** The readers of the outbox. */
  readonly readers: readonly string[];
  /** The checks that extensions add to the audit. */
  readonly auditChecks: readonly AuditCheck[];
  /** The records that have left Redis; NO_ARCHIVE has none. */
  readonly archive: RecordArchive;
  /** How the script that books orders sees the funds; null: they are in the books alone. */
  readonly placing: ChainPlacing | null;
  /** The CTF ids of a question (src/chain/ctf.ts). */
  readonly ctfIds: Parameters<typeof createMarkets>[0]['ctfIds'];
  /** The oracle of markets without one of their own; checksummed. */
  readonly defaultOracle: string;
  /** The time between a result and the payout. */
  readonly resolveDelayMs: number;
}

/**
 * The data under one prefix of keys, with everything that reads and changes it: its markets with their orders and matches, the accounts
 * of wallets, and its outbox. An exchange on one Redis has one partition.
 */
export interface Partition {
  /** From 0. */
  readonly number: number;
  /** Its name in logs, as in `shard 1`. */
  readonly name: string;
  /** The labels of its metrics, which tell it from the others; none where there is one. */
  readonly labels: Readonly<Record<string, string>>;
  readonly keys: Keys;
  readonly engine: Engine;
  /** The life of its markets, by its engine alone. */
  readonly markets: Markets;
  readonly marketList: MarketList;
  readonly reads: Reads;
  readonly history: History;
  readonly archive: RecordArchive;
  readonly archivedReads: ArchivedReads;
  readonly settlements: Settlements;
  readonly matches: Matches;
  readonly joining: Joining;
  readonly presence: Presence;
  readonly actions: Actions;
  readonly broadcasts: Broadcasts;
  /** Writes its outbox into the logs of wallets. */
  readonly accountLogs: AccountLogWriter;
  readonly outboxLag: LagGauge;
  readonly durability: PartitionDurabilityChecks;
  readonly audit: Audit;
  readonly health: () => Promise<Health>;
}

/** The life of the markets that this engine has. */
export const openMarkets = (options: PartitionOptions, engine: Engine): Markets =>
  createMarkets({ ...options, engine, partitions: options.count });

/** The engine of a partition whose unknown wallets have this balance. */
export const openEngine = (options: PartitionOptions, grantMicro = options.grantMicro): Engine =>
  createEngine({
    ...options,
    grantMicro,
    archivedReads: options.archive.reads,
    chain: options.placing,
    makersMax: options.config.matchMakersMax,
  });

/** Opens the partition that has these keys; it asks Redis nothing. */
export function openPartition(options: PartitionOptions): Partition & { readonly accountLogs: AccountLogs } {
  const { config, redis, run, keys, clock, checksum, archive, readers } = options;
  const archivedReads = archive.reads;
  const { funds, grantOn, paperGrantMicro } = config;
  const durability = createDurabilityChecks({
    redis,
    run,
    keys,
    promised: config.durability,
    replicas: config.replicas,
  });
  const { doubts } = durability;
  const history = createHistory({ ...options, doubts, archivedReads });
  const kept = createAnswerCache({ redis, keys, clock, doubts });
  const reads = createReads({ ...options, kept, doubts, history, archivedReads, funds });
  const settlements = createSettlements({ redis, run, keys, archivedReads, funds, checksum });
  const engine = openEngine(options);
  return {
    number: options.number,
    name: `partition ${options.number}`,
    labels: {},
    keys,
    engine,
    markets: openMarkets(options, engine),
    marketList: createMarketList({ ...options, history, doubts, view: reads.view }),
    reads,
    history,
    archive,
    archivedReads,
    settlements,
    matches: createMatches({ redis, run, keys, settlements, archivedReads, funds, saw: durability.saw }),
    joining: createJoining({ ...options, joinGrantMicro: grantOn === 'sign-in' ? paperGrantMicro : 0 }),
    presence: createPresence(options),
    actions: createActions(options),
    broadcasts: createBroadcasts({ redis, run, keys, archivedReads }),
    accountLogs: createAccountLogs(options),
    outboxLag: createOutboxLag({ redis, keys, readers, now: clock.now }),
    durability,
    audit: createAudit({ ...options, archivedReads }),
    health: createHealth({ redis, run, keys, clock, durability, archive }),
  };
}
