import type { Archives } from '../../app/extensions';
import type { Config } from '../../config/load';
import type { Logger } from '../../log';
import { NO_ARCHIVE, type ShardArchive } from '../../store/lists/archived-reads';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient, RunScript } from '../../store/redis/scripts';
import type { Archive } from './archive';
import { examineArchives } from './examine';
import { archiveShards } from './jobs/archiving';
import { createArchive } from './postgres/archive';
import { archiveSamples } from './samples';
import { archiveHealth } from './store/answers';
import { createArchivedReads } from './store/archived-reads';

interface ArchivesParts {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly clock: Clock;
  readonly log: Logger;
  /** The keys of each shard. */
  readonly shards: readonly Keys[];
  /** The other readers of the outbox. */
  readonly readers: readonly string[];
}

/** A shard's archive with its database, which only this extension uses. */
interface OpenArchive extends ShardArchive {
  readonly database: Archive;
}

const isOpen = (archive: ShardArchive): archive is OpenArchive => 'database' in archive;

/** The database of a shard's archive; null where none is configured. */
export const databaseOf = (archive: ShardArchive): Archive | null =>
  isOpen(archive) ? archive.database : null;

/** The archive of a shard, which has this database. */
export function shardArchive(parts: {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Archive;
}): ShardArchive {
  const open: OpenArchive = {
    database: parts.archive,
    reads: createArchivedReads(parts),
    health: () => archiveHealth(parts),
    failure: parts.archive.failure,
  };
  return open;
}

/** Opens the archive of each shard. Without ARCHIVE_URL nothing leaves Redis. */
export function openArchives(
  config: Config,
  { redis, run, clock, log, shards, readers }: ArchivesParts,
): Archives {
  const { archiveUrl: url } = config;

  const onError = (error: Error): void => log.warn({ err: error.message }, 'archive');
  const archives = shards.map((keys, shard) =>
    url === null
      ? NO_ARCHIVE
      : shardArchive({
          redis,
          keys,
          archive: createArchive({ url, shard, shards: shards.length, onError }),
        }),
  );
  const databases = shards.map((keys, shard) => ({
    keys,
    archive: databaseOf(archives[shard] ?? NO_ARCHIVE),
  }));
  return {
    shards: archives,
    async missing() {
      const archived = await Promise.all(shards.map((keys) => redis.hexists(keys.archive, 'id')));
      if (url !== null || !archived.includes(1)) return null;
      const problem = 'is required: orders of this exchange have left Redis for an archive';
      return { variable: 'ARCHIVE_URL', given: '(hidden)', problem };
    },
    samples: ({ archive, ...shard }) =>
      archiveSamples({ redis, clock, ...shard, archive: databaseOf(archive) }),
    examine: (silences) => examineArchives(config, { redis, clock, shards: databases }, silences),
    work: () => archiveShards(config, { redis, run, clock, readers, shards: databases }, log),
    stop() {
      for (const { archive } of databases) void archive?.close().catch(() => undefined);
    },
  };
}
