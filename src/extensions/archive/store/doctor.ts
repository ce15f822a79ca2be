import type { Check } from '../../../store/health/doctor';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Archive, ArchiveFacts } from '../archive';
import { conflictOf } from './answers';
import { type ArchiveProgress, archiveProgress } from './progress';

interface DoctorOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Archive | null;
  readonly now: () => number;
  /** In production a PostgreSQL that may lose commits is a failure. */
  readonly isProduction: boolean;
}

const LAG_WARN_MS = 600_000;
/** The oldest that its makers support. */
const POSTGRES_MIN = 14;
/** Maximum traces of a bucket (lua/lib/traces.lua). */
const INTSET_MIN = 512;

/** Whether the archive and Redis fit together, and whether PostgreSQL suits; nothing where there is none. */
export async function examineArchive(options: DoctorOptions): Promise<readonly Check[]> {
  const { redis, keys, archive, now } = options;
  const progress = await archiveProgress({ redis, keys, now });
  const { id, batch } = progress;
  if (!archive) {
    const detail = 'records of this exchange are in an archive: set ARCHIVE_URL';
    return id === null ? [] : [{ name: 'archive', verdict: 'fail', detail }];
  }
  const fail = (detail: string): Check => ({ name: 'archive', verdict: 'fail', detail });
  const state = await archive.state().catch((error: Error) => error);
  if (state instanceof Error)
    return [fail(`${archive.failure() ?? state.message}: records that are over stay in Redis`)];
  const database = databaseOf(await archive.facts(), options);
  const conflict = conflictOf(state, id);
  if (conflict !== null) return [fail(conflict)];
  if (id === null)
    return [{ name: 'archive', verdict: 'warn', detail: 'no worker has opened it yet' }, ...database];
  if (state?.id !== id) return [fail('ARCHIVE_URL names another archive than the one that Redis notes')];
  if (state.batch < batch)
    return [
      fail(
        `it ends with batch ${state.batch}, and records of batch ${batch} left Redis: put back a newer copy`,
      ),
    ];
  return [lagOf(progress), ...heldBy(progress), ...database, ...(await intsets(redis, keys))];
}

function lagOf({ lagMs, left }: ArchiveProgress): Check {
  const counts = `${left.orders} orders and ${left.matches} matches left Redis`;
  const verdict = lagMs > LAG_WARN_MS ? 'warn' : 'ok';
  return { name: 'archive', verdict, detail: `${counts}, ${Math.round(lagMs / 1_000)} s behind` };
}

/** A match leaves when its settlement is CONFIRMED and its candles are counted, and those behind it wait. */
function heldBy({ heldMs }: ArchiveProgress): Check[] {
  if (heldMs === null) return [];
  const detail = `matches since ${new Date(heldMs).toISOString()} stay: exchange settlements export --status FAILED shows what holds them, if it is a settlement`;
  return [{ name: 'archive-held', verdict: 'warn', detail }];
}

function databaseOf(
  { version, mayCreate, isDurable, bytes }: ArchiveFacts,
  { isProduction }: DoctorOptions,
): Check[] {
  const name = 'postgresql';
  const detail = `version ${version}, ${bytes} bytes`;
  const checks: Check[] = [];
  if (version < POSTGRES_MIN)
    checks.push({ name, verdict: 'fail', detail: `${detail}: use ${POSTGRES_MIN} or newer` });
  if (!mayCreate)
    checks.push({ name, verdict: 'fail', detail: 'the user may not create tables: each month has its own' });
  if (!isDurable)
    checks.push({
      name,
      verdict: isProduction ? 'fail' : 'warn',
      detail: 'fsync is off: a crash loses records that have left Redis',
    });
  return checks.length > 0 ? checks : [{ name, verdict: 'ok', detail }];
}

/** Larger sets of integers than Redis keeps small take 31 bytes for each. */
async function intsets(redis: RedisClient, keys: Keys): Promise<Check[]> {
  const name = 'set-max-intset-entries';
  const reply = await holderOf(redis, keys)
    .config('GET', name)
    .catch(() => []);
  const most = Number((reply as string[])[1] ?? INTSET_MIN);
  return most >= INTSET_MIN
    ? []
    : [
        {
          name,
          verdict: 'warn',
          detail: `${most}: set it to ${INTSET_MIN}, or traces take three times the memory`,
        },
      ];
}
