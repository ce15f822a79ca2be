import type { Archive } from '../../exchange/archive';
import type { Check } from '../health/doctor';
import { holderOf } from '../redis/holder';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { archiveProgress } from './progress';

interface DoctorOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly archive: Archive | null;
  readonly now: () => number;
}

const LAG_WARN_MS = 600_000;
/** A bucket of traces has at most so many (lua/lib/traces.lua). */
const INTSET_MIN = 512;

/** Whether the archive and Redis fit together; nothing where there is none. */
export async function examineArchive({
  redis,
  keys,
  archive,
  now,
}: DoctorOptions): Promise<readonly Check[]> {
  const { id, batch, lagMs, forgotten } = await archiveProgress({ redis, keys, now });
  if (!archive) {
    const detail = 'orders of this exchange are in an archive: set ARCHIVE_URL';
    return id === null ? [] : [{ name: 'archive', verdict: 'fail', detail }];
  }
  const fail = (detail: string): Check => ({ name: 'archive', verdict: 'fail', detail });
  const state = await archive.state().catch(() => undefined);
  if (state === undefined) return [fail('PostgreSQL does not answer: orders that are over stay in Redis')];
  if (id === null) return [{ name: 'archive', verdict: 'warn', detail: 'no worker has opened it yet' }];
  if (state?.id !== id) return [fail('ARCHIVE_URL names another archive than the one that Redis notes')];
  if (state.batch < batch)
    return [
      fail(
        `it ends with batch ${state.batch}, and orders of batch ${batch} left Redis: put back a newer copy`,
      ),
    ];
  const late = lagMs > LAG_WARN_MS;
  const behind = `${forgotten} orders left Redis, ${Math.round(lagMs / 1_000)} s behind`;
  return [
    { name: 'archive', verdict: late ? 'warn' : 'ok', detail: behind },
    ...(await intsets(redis, keys)),
  ];
}

/** Larger sets of integers than Redis keeps small take 31 bytes for each. */
async function intsets(redis: RedisClient, keys: ShardKeys): Promise<Check[]> {
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
