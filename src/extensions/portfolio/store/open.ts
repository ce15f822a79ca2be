import type { Exchange } from '../../../store/exchange';
import type { DurabilityChecks } from '../../../store/health/durability';
import { partAt } from '../../../store/lists/list';
import type { Partition } from '../../../store/partition';
import type { Clock } from '../../../store/redis/clock';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { createJournal, type Journal } from './journal';
import { createLeaderboard, createRanking, type LeaderboardReads, type Ranking } from './leaderboard';
import { createMarketWallets, type MarketWallets } from './market-wallets';
import { journalOverPartitions, journalRebuildOverPartitions } from './over-partitions';
import { createJournalReads, type JournalReads } from './reads';
import { createJournalRebuild, type JournalRebuild } from './rebuild';
import { createStoredLines } from './stored';

interface JournalPartition extends Pick<Partition, 'keys' | 'archivedReads' | 'matches' | 'settlements'> {
  readonly durability: Pick<DurabilityChecks, 'doubts'>;
}

interface JournalStore extends Pick<Exchange, 'placement'> {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly partitions: readonly JournalPartition[];
}

/** The journal of one partition. */
export const openJournal = (
  { redis, run }: Pick<JournalStore, 'redis' | 'run'>,
  { keys, matches, durability }: Pick<JournalPartition, 'keys' | 'matches' | 'durability'>,
): Journal => createJournal({ redis, run, keys, matches, doubts: durability.doubts });

/** Reads journals and positions, over all partitions. */
export function openReads({ redis, run, partitions, placement }: JournalStore): JournalReads {
  const parts = partitions.map((partition) => {
    const slotKey = { redis, run, ...partition };
    const lines = createStoredLines(slotKey);
    return createJournalReads({ ...slotKey, lines, journal: openJournal(slotKey, partition) });
  });
  return parts.length === 1 ? partAt(parts, 0) : journalOverPartitions(parts, placement);
}

/** Reads who holds and trades a market, over all partitions. */
export function openMarketWallets({ redis, run, partitions, placement }: JournalStore): MarketWallets {
  const parts = partitions.map(({ keys, matches, durability }) => {
    const journal = openJournal({ redis, run }, { keys, matches, durability });
    return { keys, matches, journal };
  });
  return createMarketWallets({ redis, parts, placement });
}

/** Reads the leaderboard, which the first partition has. */
export const openLeaderboard = (
  { redis, partitions }: Pick<JournalStore, 'redis' | 'partitions'>,
  wallets: Pick<MarketWallets, 'publicOf'>,
): LeaderboardReads => createLeaderboard({ redis, keys: partAt(partitions, 0).keys }, wallets);

/** Makes the leaderboard from the journals of all partitions. */
export const openRanking = (
  store: JournalStore & Pick<Exchange, 'reads'> & { readonly clock: Pick<Clock, 'now'> },
): Ranking =>
  createRanking({
    redis: store.redis,
    keys: partAt(store.partitions, 0).keys,
    journal: openReads(store),
    reads: store.reads,
    now: store.clock.now,
  });

/** Corrects journals and positions, over all partitions. */
export function openRebuild({ redis, run, partitions, placement }: JournalStore): JournalRebuild {
  const parts = partitions.map((partition) => {
    const slotKey = { redis, run, ...partition };
    return createJournalRebuild({ ...slotKey, journal: openJournal(slotKey, partition) });
  });
  return parts.length === 1 ? partAt(parts, 0) : journalRebuildOverPartitions(parts, placement);
}
