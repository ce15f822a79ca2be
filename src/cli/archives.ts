import type { Archive } from '../exchange/archive';
import { Refusal } from '../exchange/errors';
import { type VerifyReport, verifyShards } from '../store/audit/verify';
import type { Keys } from '../store/redis/keys';
import type { CliStore } from './store';

export interface Archived {
  readonly keys: Keys;
  readonly archive: Archive;
}

/** The shards with their archives: all have one, or none. */
export function archivesOf({ shards }: Pick<CliStore, 'shards'>): readonly Archived[] {
  const found = shards.flatMap(({ keys, archive }) => (archive ? [{ keys, archive }] : []));
  if (found.length === 0) throw new Refusal('NOT_FOUND', 'no archive is configured: set ARCHIVE_URL');
  return found;
}

/** Reads the whole archive of every shard. */
export const verifyAll = (store: Pick<CliStore, 'redis' | 'scale' | 'shards'>): Promise<VerifyReport> =>
  verifyShards(archivesOf(store).map((archived) => ({ ...store, ...archived })));
