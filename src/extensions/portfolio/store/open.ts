import type { DurabilityChecks } from '../../../store/health/durability';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { ShardParts } from '../../../store/shard';
import type { BetweenShards } from '../../../store/shards/exchange';
import { createWalletShards } from '../../../store/verbs/wallet-shards';
import { createJournal, type Journal } from './journal';
import { journalOverShards, journalRebuildOverShards } from './over-shards';
import { createJournalReads, type JournalReads } from './reads';
import { createJournalRebuild, type JournalRebuild } from './rebuild';
import { createStoredLines } from './stored';

interface JournalShard extends Pick<ShardParts, 'keys' | 'archivedReads' | 'matches' | 'settlements'> {
  readonly standings: Pick<DurabilityChecks, 'doubts'>;
}

interface JournalStore {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly JournalShard[];
  /** Null with one shard. */
  readonly betweenShards: Pick<BetweenShards, 'directory' | 'channels'> | null;
}

/** The journal of one shard. */
export const openJournal = (
  { redis, run }: Pick<JournalStore, 'redis' | 'run'>,
  { keys, matches, standings }: Pick<JournalShard, 'keys' | 'matches' | 'standings'>,
): Journal => createJournal({ redis, run, keys, matches, doubts: standings.doubts });

/** Reads journals and positions, over all shards. */
export function openReads({ shards, betweenShards, ...store }: JournalStore): JournalReads {
  const parts = shards.map((shard) => {
    const slotKey = { ...store, ...shard };
    const lines = createStoredLines(slotKey);
    return createJournalReads({ ...slotKey, lines, journal: openJournal(store, shard) });
  });
  if (betweenShards === null) return parts[0] as JournalReads;
  const { directory, channels } = betweenShards;
  return journalOverShards(parts, directory, createWalletShards(channels, directory.count));
}

/** Corrects journals and positions, over all shards. */
export function openRebuild({ shards, betweenShards, ...store }: JournalStore): JournalRebuild {
  const parts = shards.map((shard) =>
    createJournalRebuild({ ...store, ...shard, journal: openJournal(store, shard) }),
  );
  if (betweenShards === null) return parts[0] as JournalRebuild;
  const { directory, channels } = betweenShards;
  return journalRebuildOverShards(parts, createWalletShards(channels, directory.count));
}
