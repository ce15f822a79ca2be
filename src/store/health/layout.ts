import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/**
 * The layout of the data that this program writes, and the oldest layout whose programs may read it. Raise the first with
 * every change of the stored data, and the second when older programs would misread the data; a rolling upgrade is then
 * impossible.
 * No layout before 8 was released, so no code reads one; programs of these layouts do not start beside an archive or several shards.
 *   8  with several shards, what a wallet sent and got in one is beside its account there
 *   9  a market's field of traces has no stamp: programs of layout 8 follow no field without one, and look for each trace
 */
export const LAYOUT = 9;
const OLDEST_READER = 1;
/** Once there is an archive: the oldest layout whose programs find every trace. */
export const ARCHIVE_READER = 8;

/** The layout noted in the data. */
export interface Layout {
  readonly layout: number;
  /** Programs of an older layout must not use the data. */
  readonly oldest: number;
}

/** Data without a note has the first layout. */
export async function readLayout(redis: RedisClient, keys: Keys): Promise<Layout> {
  const [layout, oldest] = await redis.hmget(keys.layout, 'layout', 'oldest');
  return { layout: Number(layout ?? 1), oldest: Number(oldest ?? 1) };
}

/** Called at the start of a process: raises the noted layout to this program's, if that is newer and may read the data. */
export async function noteLayout(run: RunScript, keys: Keys): Promise<Layout> {
  const [layout, oldest] = await run('note_layout', [keys.layout], [LAYOUT, OLDEST_READER]);
  return { layout, oldest };
}

/** Returns the reason why this program must not use the data; null when it may. */
export const unreadable = ({ layout, oldest }: Layout): string | null =>
  oldest > LAYOUT
    ? `the data has layout ${layout}, readable by programs of layout ${oldest} or newer; this program has ${LAYOUT}: start the newer version`
    : null;
