import type { MarketId } from '../../../exchange/market';
import type { Placement } from '../../../store/exchange';
import { partAt } from '../../../store/lists/list';
import type { RowsPage } from '../../../store/records/order-views';
import { decodeCursor, encodeCursor, justAbove, placesFor } from './cursor';
import {
  type HeldPosition,
  type JournalReads,
  type JournalRow,
  newestFirst,
  type PositionsFilter,
  placeOf,
} from './reads';
import { ArchivedPartDiffers, type JournalRebuild } from './rebuild';

/** The least number of lines that are read in a shard at once. */
const LINES_MIN = 25;
/** The most steps that a page waits for shards in which nothing passed the filter; then it is short and has a cursor. */
const EMPTY_STEPS_MAX = 4;

/** The walk of one page along the journal of one shard. */
interface Walk {
  readonly shard: number;
  /** Behind the last line that was taken; null before the first. */
  place: string | null;
  /** Lines that were read and not taken yet. */
  readonly lines: JournalRow[];
  /** Whether there is nothing behind `lines`. */
  isOver: boolean;
  /** Where the next read goes on. */
  from: string | null;
}

interface Taken {
  readonly shard: number;
  readonly line: JournalRow;
}

/**
 * The journal of a wallet over its shards: the lines of each shard in their order, merged by time. Two lines of one millisecond may be in
 * either order, and the clocks of two Redis differ by milliseconds. The ids of the first shard are those of an exchange with one, so
 * growth changes no id.
 */
export function journalOverPartitions(
  parts: readonly JournalReads[],
  placement: Pick<Placement, 'find' | 'partitionsOf'>,
): JournalReads {
  const count = parts.length;

  async function shardsOf(address: string, marketId: MarketId | undefined): Promise<readonly number[]> {
    if (marketId === undefined) return [...(await placement.partitionsOf(address))].sort((a, b) => a - b);
    const shard = await placement.find(marketId);
    return shard === null ? [] : [shard];
  }

  async function positions(
    address: string,
    filter: PositionsFilter,
    page: { limit: number; cursor: string | null },
  ) {
    const shards = await shardsOf(address, filter.marketId);
    const found = await Promise.all(
      shards.map((shard) => partAt(parts, shard).positions(address, filter, page)),
    );
    const all: HeldPosition[] = found.flatMap((part) => part.positions).sort(newestFirst);
    const shown = all.slice(0, page.limit);
    const last = shown.at(-1);
    const isCut = all.length > page.limit || found.some(({ next }) => next !== null);
    const looked = found.reduce((sum, part) => sum + part.looked, 0);
    return { positions: shown, next: last && isCut ? placeOf(last) : null, looked };
  }

  const rows: JournalReads['rows'] = async (address, filter, page) => {
    const isAscending = page.order === 'asc';
    const cursor = page.cursor === null ? null : decodeCursor(page.cursor, count);
    const before = cursor && placesFor(cursor, isAscending);
    const shards = await shardsOf(address, filter.marketId);
    const walks = shards.map((shard) => walkFrom(shard, before, isAscending));
    const each = Math.max(LINES_MIN, Math.ceil(page.limit / Math.max(1, shards.length)));
    let looked = 0;
    const read = async (walk: Walk): Promise<void> => {
      const asked = { ...page, limit: each, cursor: walk.from };
      const {
        rows: lines,
        next,
        looked: more,
      } = await partAt(parts, walk.shard).rows(address, filter, asked);
      looked += more;
      walk.lines.push(...lines);
      walk.from = next;
      walk.isOver = next === null;
      if (lines.length === 0 && next !== null) walk.place = next;
    };
    const taken = await merged(walks, page, read);
    const shown = taken.map(({ shard, line }) => ({
      ...line,
      id: shard === 0 ? line.id : `${shard}-${line.id}`,
    }));
    if (walks.every(({ lines, isOver }) => isOver && lines.length === 0))
      return { rows: shown, next: null, looked };
    const places = before ?? Array.from({ length: count }, () => null);
    for (const walk of walks) places[walk.shard] = placeBehind(walk, isAscending);
    const last = taken.at(-1)?.shard ?? cursor?.last ?? null;
    return { rows: shown, next: encodeCursor({ places, isAscending, last }), looked };
  };

  return { positions, rows };
}

/** A shard that a cursor has at its beginning has nothing older, and what it has newer came during the walk. */
function walkFrom(shard: number, before: readonly (string | null)[] | null, isAscending: boolean): Walk {
  const place = before?.[shard] ?? null;
  return { shard, place, lines: [], isOver: before !== null && place === null && !isAscending, from: place };
}

/** Takes the next line of all walks until the page is full. */
async function merged(
  walks: readonly Walk[],
  { limit, order }: RowsPage,
  read: (walk: Walk) => Promise<void>,
): Promise<Taken[]> {
  // When two lines have the same time, the one of the lower shard is the older, in both directions.
  const isBefore = (a: number, b: number): boolean => (order === 'asc' ? a < b : a >= b);
  const taken: Taken[] = [];
  let emptySteps = 0;
  while (taken.length < limit) {
    const waiting = walks.filter(({ lines, isOver }) => lines.length === 0 && !isOver);
    await Promise.all(waiting.map(read));
    if (waiting.some(({ lines, isOver }) => lines.length === 0 && !isOver)) {
      if (++emptySteps >= EMPTY_STEPS_MAX) break;
      continue;
    }
    let next: Walk | undefined;
    for (const walk of walks) {
      const [line] = walk.lines;
      const [best] = next?.lines ?? [];
      if (line && (!best || isBefore(timeOf(line), timeOf(best)))) next = walk;
    }
    const line = next?.lines.shift();
    if (!next || !line) break;
    next.place = line.id;
    taken.push({ shard: next.shard, line });
  }
  return taken;
}

/**
 * The place of a shard in the cursor. Newest first, a shard of which nothing was taken yet gets the place of its newest line, so that
 * lines that come during the walk are not in it.
 */
function placeBehind({ place, lines: [line] }: Walk, isAscending: boolean): string | null {
  return place === null && line && !isAscending ? justAbove(line.id) : place;
}

const timeOf = (row: JournalRow): number => (row.type === 'TRADE' ? row.side.fill.tradeMs : row.atMs);

/** A wallet's journal has a part in each of its shards; each part is put right by itself, from what its shard has. */
export function journalRebuildOverPartitions(
  parts: readonly JournalRebuild[],
  placement: Pick<Placement, 'partitionsOf'>,
): JournalRebuild {
  return {
    async begin() {
      const ends = await Promise.all(parts.map((part) => part.begin()));
      return async () => {
        await Promise.all(ends.map((end) => end()));
      };
    },
    async wallets() {
      const found = new Set<string>();
      for (const part of parts) for (const wallet of await part.wallets()) found.add(wallet);
      return [...found].sort();
    },
    /** Throws ArchivedPartDiffers when a shard has left its part as it was; the other shards are done. */
    async rebuild(address) {
      const refused: string[] = [];
      let isChanged = false;
      for (const shard of await placement.partitionsOf(address)) {
        try {
          isChanged = (await partAt(parts, shard).rebuild(address)) || isChanged;
        } catch (error) {
          if (!(error instanceof ArchivedPartDiffers)) throw error;
          refused.push(`in shard ${shard}: ${error.message}`);
        }
      }
      if (refused.length > 0) throw new ArchivedPartDiffers(refused.join('; '));
      return isChanged;
    },
  };
}
