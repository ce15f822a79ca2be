import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/**
 * The layout of the data that this program writes, and the oldest layout whose programs may read it. Raise the first with
 * every change of the stored data, and the second when older programs would misread the data; a rolling upgrade is then
 * impossible.
 *   1  everything before layouts were noted
 *   2  candles contain shares and trades, under new keys: programs of layout 1 continue with the old keys
 *   3  the mode has a message, a market a source, an event and the evidence of its result: in keys, fields and members that
 *      older programs do not touch
 *   4  orders may be in an archive; older programs may read the data until the first archive is opened (lua/open_archive.lua)
 *   5  the buckets of traces are chosen by a factor (lua/lib/traces.lua); markets with traces of layout 4 keep their buckets, and
 *      programs of layout 4 do not start once an archive has been opened
 *   6  markets may be in several shards; older programs may read the data until a program with more than one shard notes
 *      their number (lua/note_shards.lua)
 *   7  a market's field of traces ends with a stamp: older programs write it without one, and a field
 *      without a stamp is compared with no copy
 *   8  with several shards, what a wallet sent and got in one is beside its account there; programs of older layouts do not
 *      start then
 */
export const LAYOUT = 8;
const OLDEST_READER = 1;
/** Once there is an archive: the oldest layout whose programs find every trace. */
export const ARCHIVE_READER = 5;

/** The layout noted in the data. */
export interface Layout {
  readonly layout: number;
  /** Programs of an older layout must not use the data. */
  readonly oldest: number;
}

/** Data without a note has the first layout. */
export async function readLayout(redis: RedisClient, keys: ShardKeys): Promise<Layout> {
  const [layout, oldest] = await redis.hmget(keys.layout, 'layout', 'oldest');
  return { layout: Number(layout ?? 1), oldest: Number(oldest ?? 1) };
}

/** Called at the start of a process: raises the noted layout to this program's, if that is newer and may read the data. */
export async function noteLayout(run: RunScript, keys: ShardKeys): Promise<Layout> {
  const [layout, oldest] = await run('note_layout', [keys.layout], [LAYOUT, OLDEST_READER]);
  return { layout, oldest };
}

/** Returns the reason why this program must not use the data; null when it may. */
export const unreadable = ({ layout, oldest }: Layout): string | null =>
  oldest > LAYOUT
    ? `the data has layout ${layout}, readable by programs of layout ${oldest} or newer; this program has ${LAYOUT}: start the newer version`
    : null;
