import type { CliStore } from '../../../cli/store';
import { Refusal } from '../../../exchange/errors';
import type { Keys } from '../../../store/redis/keys';
import type { Archive } from '../archive';
import { databaseOf } from '../open';
import { type VerifyReport, verifyShards } from '../verify/verify';

export interface Archived {
  readonly keys: Keys;
  readonly archive: Archive;
}

/** The partitions with their archives: all have one, or none. */
export function archivesOf({ partitions }: Pick<CliStore, 'partitions'>): readonly Archived[] {
  const found = partitions.flatMap((partition) => {
    const archive = databaseOf(partition.archive);
    return archive ? [{ keys: partition.keys, archive }] : [];
  });
  if (found.length === 0) throw new Refusal('NOT_FOUND', 'no archive is configured: set ARCHIVE_URL');
  return found;
}

/** Reads the whole archive of every shard. */
export const verifyAll = (store: Pick<CliStore, 'redis' | 'scale' | 'partitions'>): Promise<VerifyReport> =>
  verifyShards(archivesOf(store).map((archived) => ({ ...store, ...archived })));
