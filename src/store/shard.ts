import type { Config } from '../config/load';
import type { Archive } from '../exchange/archive';
import type { ChainScale } from '../exchange/order';
import type { Micro } from '../exchange/units';
import { createPast, NO_PAST, type Past } from './archive/past';
import { type Audit, createAudit } from './audit/audit';
import { createHistory, type History } from './candles/history';
import { createDurabilityChecks, type ShardDurabilityChecks } from './health/durability';
import { createJournal, type Journal } from './journal/journal';
import { createJournalReads, type JournalReads } from './journal/reads';
import { createJournalRebuild, type JournalRebuild } from './journal/rebuild';
import { createStoredLines } from './journal/stored';
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
import type { ShardKeys } from './redis/keys';
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
  /** Null where none is configured. */
  readonly archive: Archive | null;
}

/** The parts that keep and read the data of one shard. With one shard they are the store's. */
export interface ShardParts {
  readonly keys: ShardKeys;
  /** Of this shard alone; null where none is configured. */
  readonly archive: Archive | null;
  readonly past: Past;
  readonly standings: ShardDurabilityChecks;
  readonly history: History;
  readonly reads: Reads;
  readonly marketList: MarketList;
  readonly settlements: Settlements;
  readonly matches: Matches;
  readonly journalWriter: Journal;
  readonly journal: JournalReads;
  readonly journalRebuild: JournalRebuild;
  readonly joining: Joining;
  readonly presence: Presence;
  readonly actions: Actions;
  readonly broadcasts: Broadcasts;
  readonly accounts: AccountLogs;
  readonly outboxLag: LagGauge;
  readonly audit: Audit;
}

interface Door extends SharedParts {
  readonly keys: ShardKeys;
}

function openJoining(door: Door): Joining {
  const { redis, keys, clock, config } = door;
  const { chain, grantOn, paperGrantMicro } = config;
  const joinGrantMicro = grantOn === 'sign-in' ? paperGrantMicro : 0;
  const joining = createJoining({ ...door, joinGrantMicro });
  return chain === null ? joining : { ...joining, join: joinWithoutGrant(redis, keys, clock.now) };
}

/** Keeps, reads and corrects journals. */
function openJournals(
  parts: Door & Pick<ShardParts, 'past' | 'matches' | 'settlements'>,
  doubts: () => number,
) {
  const journalWriter = createJournal({ ...parts, doubts });
  const lines = createStoredLines(parts);
  return {
    journalWriter,
    journal: createJournalReads({ ...parts, lines, journal: journalWriter }),
    journalRebuild: createJournalRebuild({ ...parts, journal: journalWriter }),
  };
}

export function openShard(shared: SharedParts, keys: ShardKeys): ShardParts {
  const door: Door = { ...shared, keys };
  const { config, redis, run, clock, checksum, archive } = door;
  const { funds } = config;
  const past = archive === null ? NO_PAST : createPast({ redis, keys, archive });
  const standings = createDurabilityChecks({ redis, run, keys, promised: config.durability });
  const { doubts } = standings;
  const history = createHistory({ ...door, doubts, past });
  const kept = createAnswerCache({ redis, keys, clock, doubts });
  const reads = createReads({ ...door, kept, doubts, history, past, funds });
  const settlements = createSettlements({ redis, run, keys, past, funds, checksum });
  const matches = createMatches({ redis, run, keys, settlements, past, funds, saw: standings.saw });
  return {
    keys,
    archive,
    past,
    standings,
    history,
    reads,
    marketList: createMarketList({ ...door, history, doubts, view: reads.view }),
    settlements,
    matches,
    ...openJournals({ ...door, past, matches, settlements }, doubts),
    joining: openJoining(door),
    presence: createPresence(door),
    actions: createActions(door),
    broadcasts: createBroadcasts({ redis, run, keys, past }),
    accounts: createAccountLogs(door),
    outboxLag: createOutboxLag({ redis, keys, now: clock.now }),
    audit: createAudit({ ...door, past }),
  };
}
