import { setTimeout as sleep } from 'node:timers/promises';
import type { ArchiveHealth } from '../../../store/lists/archived-reads';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Archive, ArchiveState } from '../archive';

/** A probe or a scrape waits no longer. */
const ANSWER_MAX_MS = 500;

/** What the archive says of itself now; undefined when it does not answer. */
const readState = (archive: Pick<Archive, 'state'>): Promise<ArchiveState | null | undefined> =>
  Promise.race([archive.state().catch(() => undefined), sleep(ANSWER_MAX_MS, undefined, { ref: false })]);

/** Whether the archive answers now; null without one. Nothing that trades needs it. */
export const archiveAnswers = async (archive: Pick<Archive, 'state'> | null): Promise<boolean | null> =>
  archive && (await readState(archive)) !== undefined;

interface ArchiveHealthOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Pick<Archive, 'state'>;
}

/** Rejects when Redis does not respond. */
export async function archiveHealth({ redis, keys, archive }: ArchiveHealthOptions): Promise<ArchiveHealth> {
  const [state, noted] = await Promise.all([readState(archive), redis.hget(keys.archive, 'id')]);
  return { answers: state !== undefined, conflict: conflictOf(state ?? null, noted) };
}

/**
 * Why the archive and this Redis do not belong together; null when they do, and while the archive does not answer. An archive with records
 * beside a Redis that notes none means that Redis lost its data, or that the address is another exchange's.
 */
export function conflictOf(state: ArchiveState | null, noted: string | null): string | null {
  if (state === null || state.batch === 0 || state.id === noted) return null;
  return noted === null
    ? `${FOREIGN}, and this Redis notes none: it lost its data, or the archive is another exchange's; ${ADVICE}`
    : `${FOREIGN} of another exchange than the one that this Redis notes; ${ADVICE}`;
}

const FOREIGN = 'the archive of ARCHIVE_URL has records';
const ADVICE = 'leave both as they are, and see docs/run/runbook.md#exchangedatalost';
