import { Refusal } from '../../../exchange/errors';
import { type SettlementState, settlementOf } from '../../../exchange/facts';
import type { MarketId } from '../../../exchange/market';
import type { Move } from '../../../store/records/moves';
import { addressBytes } from '../../../store/records/order';
import type { RowsPage } from '../../../store/records/order-views';
import { decodeSettlementState } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Matches } from '../../../store/settlement/matches';
import type { Settlements } from '../../../store/settlement/settlements';
import type { Position } from '../position';
import type { Journal } from './journal';
import { type JournalEntry, unpackEntry, unpackPositions } from './records';
import { type OwnSide, sidesOf } from './sides';
import type { OpenLines, StoredLines } from './stored';

interface JournalReadsOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly journal: Pick<Journal, 'catchUp' | 'checkWhole'>;
  readonly matches: Pick<Matches, 'load'>;
  readonly settlements: Pick<Settlements, 'showAll'>;
  readonly lines: OpenLines;
}

export interface HeldPosition extends Position {
  readonly marketId: MarketId;
  readonly outcome: 0 | 1;
}

/** A line of a wallet's journal: its side of one fill, or a move without an order. */
export type JournalRow = { readonly id: string } & (
  | { readonly type: 'TRADE'; readonly side: OwnSide; readonly settlement: SettlementState }
  | { readonly type: 'MOVE'; readonly atMs: number; readonly marketId: MarketId; readonly move: Move }
);
export type TradeRow = JournalRow & { readonly type: 'TRADE' };

export interface PositionsFilter {
  readonly marketId?: MarketId | undefined;
  /** Whether the wallet still has tokens of it. */
  readonly status?: 'open' | 'closed' | undefined;
}

export interface JournalFilter {
  readonly marketId?: MarketId | undefined;
  readonly tradesOnly?: boolean;
}

interface Page {
  readonly limit: number;
  readonly cursor: string | null;
}

/** The place of a walk: a line of an entry. */
interface LinePlace {
  readonly entry: number;
  readonly line: number;
}

/** Entries from the first number up to, but without, the second. */
type Stretch = readonly [low: number, high: number];

/** Entries read in one step, and steps for one page: a filter that matches little gets a short page and a cursor. */
const STEP = 100;
const STEPS_MAX = 5;
/** After every line of an entry. */
export const LINE_MAX = 999_999;
/** The times of a journal rise, except that the clocks of two Redis may differ by this when one takes over from the other. */
const DISORDER_MS = 60_000;
export const LINE_CURSOR = /^(\d{1,12})-(\d{1,6})$/;
const POSITION_CURSOR = /^(\d{1,15})-([0-9a-z]{8})-([01])$/;

/** `looked` is the number of positions, or of lines, that were read for the page. */
export interface PositionsPage {
  readonly positions: HeldPosition[];
  readonly next: string | null;
  readonly looked: number;
}
export interface JournalPage {
  readonly rows: JournalRow[];
  readonly next: string | null;
  readonly looked: number;
}

export interface JournalReads {
  /** Returns the wallet's positions, open or closed, latest opened first. Throws INVALID_CURSOR. */
  positions(address: string, filter: PositionsFilter, page: Page): Promise<PositionsPage>;
  /**
   * Throws INVALID_CURSOR. A line that is added during a walk comes before its beginning (newest first) or at its end (oldest
   * first). A cursor is the last line that was shown, and means the same in both directions.
   */
  rows(address: string, filter: JournalFilter, page: RowsPage): Promise<JournalPage>;
}

/** Reads the journal of one wallet, after recording everything that happened before the request. */
export function createJournalReads({
  redis,
  keys,
  journal,
  matches,
  settlements,
  lines: openLines,
}: JournalReadsOptions): JournalReads {
  async function positions(
    address: string,
    { marketId, status }: PositionsFilter,
    page: Page,
  ): Promise<PositionsPage> {
    const after = page.cursor === null ? null : parsePlace(page.cursor);
    await journal.catchUp();
    await journal.checkWhole();
    const stored = await redis.hgetallBuffer(keys.positions(addressBytes(address)));
    const held = Object.entries(stored).flatMap(([id, packed]) =>
      unpackPositions(packed).map(
        (position, i) => ({ ...position, marketId: id, outcome: i === 0 ? 0 : 1 }) as const,
      ),
    );
    const found = held
      .filter(({ openedAtMs }) => openedAtMs > 0)
      .filter((position) => marketId === undefined || position.marketId === marketId)
      .filter(({ sizeMicro }) => status === undefined || sizeMicro > 0n === (status === 'open'))
      .filter((position) => after === null || newestFirst(after, position) < 0)
      .sort(newestFirst);
    const shown = found.slice(0, page.limit);
    const last = shown.at(-1);
    const next = last && found.length > page.limit ? placeOf(last) : null;
    return { positions: shown, next, looked: held.length };
  }

  async function rows(address: string, filter: JournalFilter, page: RowsPage): Promise<JournalPage> {
    const isAscending = page.order === 'asc';
    const after = page.cursor === null ? null : linePlace(page.cursor);
    await journal.catchUp();
    await journal.checkWhole();
    const list = await openLines(addressBytes(address));
    let [low, high] = await stretchOf(list, page, after, isAscending);
    const shown: JournalRow[] = [];
    let looked = 0;
    for (let step = 0; step < STEPS_MAX && low < high && shown.length <= page.limit; step++) {
      const [from, end] = stepOf([low, high], list.left, isAscending);
      const packed = await list.read(from, end);
      looked += packed.length;
      const entries = packed.flatMap((entry, i) =>
        entry ? [{ entry: from + i, is: unpackEntry(entry) }] : [],
      );
      const passing = entries.filter(({ is }) => passes(is, filter) && isWithin(timeOf(is), page));
      const wanted = isAscending ? passing : passing.reverse();
      for (let i = 0; i < wanted.length && shown.length <= page.limit; i += page.limit) {
        const lines = await linesOf(wanted.slice(i, i + page.limit), address, isAscending);
        const behind = lines.filter(({ place }) => !after || isBehind(place, after, isAscending));
        shown.push(...behind.map(({ row }) => row));
      }
      [low, high] = isAscending ? [end, high] : [low, from];
    }
    const last = shown[page.limit - 1];
    if (shown.length > page.limit && last) return { rows: shown.slice(0, page.limit), next: last.id, looked };
    if (low >= high) return { rows: shown, next: null, looked };
    return { rows: shown, next: isAscending ? `${low - 1}-${LINE_MAX}` : `${high}-0`, looked };
  }

  /** Returns the range of entries that may have rows of a page. */
  async function stretchOf(
    list: StoredLines,
    { sinceMs, untilMs }: RowsPage,
    after: LinePlace | null,
    isAscending: boolean,
  ): Promise<Stretch> {
    const low = sinceMs === undefined ? 0 : await firstAt(list, sinceMs - DISORDER_MS);
    const high = untilMs === undefined ? list.length : await firstAt(list, untilMs + DISORDER_MS + 1);
    if (after === null) return [low, high];
    return isAscending ? [Math.max(low, after.entry), high] : [low, Math.min(high, after.entry + 1)];
  }

  /** Returns the first entry of this time or later by binary search, exact to DISORDER_MS. */
  async function firstAt(list: StoredLines, atMs: number): Promise<number> {
    let [low, high] = [0, list.length];
    // The first line in Redis comes first: the archive is asked only for a time that is there.
    let middle = list.left > 0 && list.left < high ? list.left : Math.floor(high / 2);
    while (low < high) {
      const [packed] = await list.read(middle, middle + 1);
      // A line that was dropped is older than all others.
      if (packed === null || (packed && timeOf(unpackEntry(packed)) < atMs)) low = middle + 1;
      else high = middle;
      middle = Math.floor((low + high) / 2);
    }
    return low;
  }

  /** The lines of entries, in the direction of the page. */
  async function linesOf(
    entries: readonly { readonly entry: number; readonly is: JournalEntry }[],
    address: string,
    isAscending: boolean,
  ): Promise<{ place: LinePlace; row: JournalRow }[]> {
    const wallet = address.toLowerCase();
    const refs = entries.flatMap(({ is }) => (is.type === 'TRADE' ? [is.ref] : []));
    const loaded = await matches.load(refs);
    const sides = refs.map((ref, i) => {
      const match = loaded[i];
      const own = match && !(match instanceof Error) ? sidesOf(match) : [];
      return { ref, own: own.filter(({ order }) => order.maker === wallet) };
    });
    const shown = await settlements.showAll(
      sides.map(({ ref, own }) => ({ marketId: ref.marketId, fills: own.map(({ fill }) => fill) })),
    );
    const lines = entries.map(({ entry, is }): JournalRow[] => {
      if (is.type === 'MOVE') return [{ ...is, id: `${entry}-0` }];
      const at = refs.indexOf(is.ref);
      return (sides[at]?.own ?? []).map((side, line) => {
        return {
          type: 'TRADE',
          id: `${entry}-${line}`,
          side,
          settlement: settlementOf(shown[at]?.[line] ?? decodeSettlementState(null)),
        };
      });
    });
    return lines.flatMap((list, i) => {
      const placed = list.map((row, line) => ({ place: { entry: entries[i]?.entry ?? 0, line }, row }));
      return isAscending ? placed : placed.reverse();
    });
  }

  return { positions, rows };
}

/**
 * Returns the next entries of a stretch. No step has both entries that had left Redis and entries that had not, so a page that
 * is full before needs no archive.
 */
function stepOf([low, high]: Stretch, left: number, isAscending: boolean): Stretch {
  if (isAscending) return [low, Math.min(high, low + STEP, low < left ? left : high)];
  return [Math.max(low, high - STEP, high > left ? left : low), high];
}

const passes = (entry: JournalEntry, { marketId, tradesOnly }: JournalFilter): boolean =>
  (!tradesOnly || entry.type === 'TRADE') &&
  (marketId === undefined || (entry.type === 'TRADE' ? entry.ref.marketId : entry.marketId) === marketId);

const timeOf = (entry: JournalEntry): number => (entry.type === 'TRADE' ? entry.ref.tradeMs : entry.atMs);

const isWithin = (atMs: number, { sinceMs, untilMs }: RowsPage): boolean =>
  (sinceMs === undefined || atMs >= sinceMs) && (untilMs === undefined || atMs <= untilMs);

function isBehind(place: LinePlace, after: LinePlace, isAscending: boolean): boolean {
  const order = place.entry - after.entry || place.line - after.line;
  return isAscending ? order > 0 : order < 0;
}

type PositionPlace = Pick<HeldPosition, 'openedAtMs' | 'marketId' | 'outcome'>;

/** Sorts by the time of opening, which never changes. */
export const newestFirst = (a: PositionPlace, b: PositionPlace): number =>
  b.openedAtMs - a.openedAtMs ||
  (a.marketId < b.marketId ? -1 : Number(a.marketId > b.marketId)) ||
  a.outcome - b.outcome;

export const placeOf = ({ openedAtMs, marketId, outcome }: PositionPlace): string =>
  `${openedAtMs}-${marketId}-${outcome}`;

function parsePlace(cursor: string): PositionPlace {
  const [, openedAtMs, marketId = '', outcome] = POSITION_CURSOR.exec(cursor) ?? [];
  if (openedAtMs === undefined) throw new Refusal('INVALID_CURSOR');
  return { openedAtMs: Number(openedAtMs), marketId, outcome: outcome === '1' ? 1 : 0 };
}

export function linePlace(cursor: string): LinePlace {
  const parts = LINE_CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  return { entry: Number(parts[1]), line: Number(parts[2]) };
}
