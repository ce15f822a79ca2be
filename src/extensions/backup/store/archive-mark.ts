import { Refusal } from '../../../exchange/errors';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Archive } from '../../archive/archive';

/** The archive that has what left Redis, and the latest batch of which anything left. */
export interface ArchiveMark {
  readonly id: string;
  readonly batch: number;
}

/** Null while nothing was ever archived. Nothing leaves while the exchange is HALTED, so the mark belongs to the copy. */
export async function readArchiveMark(redis: RedisClient, keys: Keys): Promise<ArchiveMark | null> {
  const [id, batch] = await redis.hmget(keys.archive, 'id', 'n');
  return id ? { id, batch: Number(batch ?? 0) } : null;
}

export function isArchiveMark(value: unknown): value is ArchiveMark {
  if (typeof value !== 'object' || value === null) return false;
  const { id, batch } = value as Partial<ArchiveMark>;
  return typeof id === 'string' && Number.isSafeInteger(batch);
}

/**
 * Throws INVALID_REQUEST unless the archive has all that had left Redis when the backup was made. It may have more: see
 * `cutBack` of src/extensions/archive/archive.ts. The message names the shard, unless it is null.
 */
export async function checkArchive(
  archive: Archive | null,
  mark: ArchiveMark | null,
  shard: number | null,
): Promise<void> {
  const refuse = (why: string): never => refuseFor(shard, why);
  if (mark && !archive)
    refuse(
      `the records that left Redis before the backup are in the archive ${mark.id}: set ARCHIVE_URL to it`,
    );
  const state = (await archive?.state()) ?? null;
  if (!mark) {
    if (state && state.batch > 0)
      refuse(
        'the backup was made before anything was archived, and the archive of ARCHIVE_URL has records: leave that database as it is, and give this exchange one of its own',
      );
    return;
  }
  if (state?.id !== mark.id)
    refuse(
      `the backup belongs to the archive ${mark.id}, and ARCHIVE_URL names ${state ? `the archive ${state.id}` : 'an empty one'}: put back the copy of PostgreSQL that was made with it`,
    );
  if (state && state.batch < mark.batch)
    refuse(
      `the archive ends with batch ${state.batch}, and records of batch ${mark.batch} had left Redis before the backup: put back a newer copy of PostgreSQL first`,
    );
}

/** Deletes what the archive has behind the mark. Returns how many rows that were. */
export async function cutBack(archive: Archive, { batch }: ArchiveMark): Promise<number> {
  await archive.open();
  const gone = await archive.cutBack(batch);
  if (gone === null) refuseFor(null, 'a worker is at work on the archive: stop all processes first');
  return gone ?? 0;
}

function refuseFor(shard: number | null, why: string): never {
  const archive = shard === null ? 'the archive' : `the archive of shard ${shard}`;
  throw new Refusal('INVALID_REQUEST', `${archive} does not fit the backup: ${why}; or give --incomplete`);
}
