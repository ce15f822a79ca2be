import type { Host } from '../../app/host';
import type { OpenExchange } from '../../store/exchange';
import type { RecordArchive } from '../../store/lists/archived-reads';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient } from '../../store/redis/scripts';
import type { Archive } from './archive';
import { createArchive } from './postgres/archive';
import { archiveHealth } from './store/answers';
import { createArchivedReads } from './store/archived-reads';

/** The archive of a partition with its database, which only this extension uses. */
interface OpenArchive extends RecordArchive {
  readonly database: Archive;
}

const isOpen = (archive: RecordArchive): archive is OpenArchive => 'database' in archive;

/** The database of an archive; null where none is configured. */
export const databaseOf = (archive: RecordArchive): Archive | null =>
  isOpen(archive) ? archive.database : null;

/** The archive of a partition, which has this database. */
export function recordArchive(parts: {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Archive;
}): RecordArchive {
  const open: OpenArchive = {
    database: parts.archive,
    reads: createArchivedReads(parts),
    health: () => archiveHealth(parts),
    failure: parts.archive.failure,
  };
  return open;
}

/** Opens an exchange that finds in PostgreSQL what has left Redis. Without ARCHIVE_URL nothing leaves it. */
export function withArchive(open: OpenExchange, { config, log }: Host): OpenExchange {
  const { archiveUrl: url } = config;
  if (url === null) return unlessArchived(open);
  return async (options) => {
    const { redis, keys, number, count } = options;
    const onError = (error: Error): void => log.warn({ err: error.message }, 'archive');
    const archive = createArchive({ url, shard: number, shards: count, onError });
    const exchange = await open({ ...options, archive: recordArchive({ redis, keys, archive }) });
    const stop = (): void => {
      exchange.operations.stop();
      void archive.close().catch(() => undefined);
    };
    return { ...exchange, operations: { ...exchange.operations, stop } };
  };
}

/** Refuses to start where records have left Redis for an archive that this process does not know. */
const unlessArchived =
  (open: OpenExchange): OpenExchange =>
  async (options) => {
    const exchange = await open(options);
    const { operations } = exchange;
    return {
      ...exchange,
      operations: {
        ...operations,
        async startupProblem() {
          const problem = await operations.startupProblem();
          if (problem !== null) return problem;
          if ((await options.redis.hexists(options.keys.archive, 'id')) === 0) return null;
          return {
            variable: 'ARCHIVE_URL',
            given: '(hidden)',
            problem: 'is required: orders of this exchange have left Redis for an archive',
          };
        },
      },
    };
  };
