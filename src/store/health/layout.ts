import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/**
 * The layout of the data this program writes, and the oldest layout whose programs may read it. Raise the first with every
 * change of what is stored, and the second when a program of before would misread it: then no rolling upgrade is possible.
 *   1  everything before layouts were noted
 *   2  candles tell shares and trades, under keys of their own: programs of layout 1 go on with theirs
 *   3  the mode has a message, a market a source, an event and the evidence of its end: in keys, fields and members that
 *      older programs leave as they are
 */
export const LAYOUT = 3;
const OLDEST_READER = 1;

/** The layout of the data, as the data names it. */
export interface Layout {
  readonly layout: number;
  /** Programs of an older layout must not touch it. */
  readonly oldest: number;
}

/** Data of before layouts were noted has the first. */
export async function readLayout(redis: RedisClient, keys: ShardKeys): Promise<Layout> {
  const [layout, oldest] = await redis.hmget(keys.layout, 'layout', 'oldest');
  return { layout: Number(layout ?? 1), oldest: Number(oldest ?? 1) };
}

/** When a process starts: from now on the data has this program's layout, if that is newer and the program may read it. */
export async function noteLayout(run: RunScript, keys: ShardKeys): Promise<Layout> {
  const [layout, oldest] = await run('note_layout', [keys.layout], [LAYOUT, OLDEST_READER]);
  return { layout, oldest };
}

/** Why this program must leave the data alone; null when it may read it. */
export const unreadable = ({ layout, oldest }: Layout): string | null =>
  oldest > LAYOUT
    ? `the data has layout ${layout}, readable by programs of layout ${oldest} or newer; this program has ${LAYOUT}: start the newer version`
    : null;
