import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import type { Position } from '../../exchange/position';
import type { Move } from '../records/moves';
import { addressBytes } from '../records/order';
import { type JournalEntry, unpackEntry, unpackPositions } from '../records/position';
import { decodeSettlementState, type SettlementState } from '../records/settlement';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Matches } from '../settlement/matches';
import type { Settlements } from '../settlement/settlements';
import type { Journal } from './journal';
import { type OwnSide, sidesOf } from './sides';

interface JournalReadsOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly journal: Pick<Journal, 'catchUp'>;
  readonly matches: Pick<Matches, 'load'>;
  readonly settlements: Pick<Settlements, 'show'>;
}

export interface HeldPosition extends Position {
  readonly marketId: MarketId;
  readonly outcome: 0 | 1;
}

/** A line of a wallet's journal: its side of one fill, or what moved without an order. */
export type JournalRow = { readonly id: string } & (
  | { readonly type: 'TRADE'; readonly side: OwnSide; readonly settlement: SettlementState }
  | { readonly type: 'MOVE'; readonly atMs: number; readonly marketId: MarketId; readonly move: Move }
);
export type TradeRow = JournalRow & { readonly type: 'TRADE' };

export interface PositionsFilter {
  readonly marketId?: MarketId | undefined;
  /** Whether there is any of it left. */
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

/** Where a walk is: at a line of an entry. */
interface Place {
  readonly entry: number;
  readonly line: number;
}

/** Entries looked at in one step, and steps for one page: a filter that matches little gets a short page and a cursor. */
const STEP = 100;
const STEPS_MAX = 50;
const CURSOR = /^(\d{1,12})-(\d{1,6})$/;
const POSITION_CURSOR = /^(\d{1,15})-([0-9a-z]{8})-([01])$/;

export type JournalReads = ReturnType<typeof createJournalReads>;

/** The journal of one wallet, after everything that happened before the request is recorded. */
export function createJournalReads({ redis, keys, journal, matches, settlements }: JournalReadsOptions) {
  /** Positions the wallet has or, closed, had; the one it opened last first. Throws INVALID_CURSOR. */
  async function positions(
    address: string,
    { marketId, status }: PositionsFilter,
    page: Page,
  ): Promise<{ positions: HeldPosition[]; next: string | null }> {
    const after = page.cursor === null ? null : parsePlace(page.cursor);
    await journal.catchUp();
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
    return { positions: shown, next };
  }

  /** Newest first; throws INVALID_CURSOR. A line that is added while the list is walked stands before its beginning. */
  async function rows(
    address: string,
    filter: JournalFilter,
    page: Page,
  ): Promise<{ rows: JournalRow[]; next: string | null }> {
    const after = page.cursor === null ? null : parseCursor(page.cursor);
    await journal.catchUp();
    const list = keys.journal(addressBytes(address));
    let end = after ? Math.min(after.entry + 1, await redis.llen(list)) : await redis.llen(list);
    const shown: JournalRow[] = [];
    for (let step = 0; step < STEPS_MAX && end > 0 && shown.length <= page.limit; step++) {
      const from = Math.max(0, end - STEP);
      const packed = await redis.lrangeBuffer(list, from, end - 1);
      const entries = packed.map((entry, i) => ({ entry: from + i, is: unpackEntry(entry) }));
      const wanted = entries.filter(({ is }) => passes(is, filter)).reverse();
      for (let i = 0; i < wanted.length && shown.length <= page.limit; i += page.limit) {
        const part = wanted.slice(i, i + page.limit);
        const lines = (await linesOf(part, address)).filter(({ place }) => !after || isOlder(place, after));
        shown.push(...lines.map(({ row }) => row));
      }
      end = from;
    }
    const isCut = shown.length > page.limit;
    const last = shown[page.limit - 1];
    if (isCut && last) return { rows: shown.slice(0, page.limit), next: last.id };
    return { rows: shown, next: end > 0 ? `${end}-0` : null };
  }

  /** Lines newest first, of entries newest first. */
  async function linesOf(
    entries: readonly { readonly entry: number; readonly is: JournalEntry }[],
    address: string,
  ): Promise<{ place: Place; row: JournalRow }[]> {
    const wallet = address.toLowerCase();
    const refs = entries.flatMap(({ is }) => (is.type === 'TRADE' ? [is.ref] : []));
    const loaded = await matches.load(refs);
    const lines = await Promise.all(
      entries.map(async ({ entry, is }): Promise<JournalRow[]> => {
        if (is.type === 'MOVE') return [{ ...is, id: `${entry}-0` }];
        const match = loaded[refs.indexOf(is.ref)];
        if (!match || match instanceof Error) return [];
        const own = sidesOf(match).filter(({ order }) => order.maker === wallet);
        const fills = await settlements.show(
          is.ref.marketId,
          own.map(({ fill }) => fill),
        );
        return own.map((side, line) => {
          const { settlementStatus, transactionHash } = fills[line] ?? decodeSettlementState(null);
          return {
            type: 'TRADE',
            id: `${entry}-${line}`,
            side,
            settlement: { settlementStatus, transactionHash },
          };
        });
      }),
    );
    return lines.flatMap((list, i) =>
      list.map((row, line) => ({ place: { entry: entries[i]?.entry ?? 0, line }, row })).reverse(),
    );
  }

  return { positions, rows };
}

const passes = (entry: JournalEntry, { marketId, tradesOnly }: JournalFilter): boolean =>
  (!tradesOnly || entry.type === 'TRADE') &&
  (marketId === undefined || (entry.type === 'TRADE' ? entry.ref.marketId : entry.marketId) === marketId);

const isOlder = (a: Place, b: Place): boolean =>
  a.entry < b.entry || (a.entry === b.entry && a.line < b.line);

type PositionPlace = Pick<HeldPosition, 'openedAtMs' | 'marketId' | 'outcome'>;

/** By when they were opened, which never changes. */
const newestFirst = (a: PositionPlace, b: PositionPlace): number =>
  b.openedAtMs - a.openedAtMs ||
  (a.marketId < b.marketId ? -1 : Number(a.marketId > b.marketId)) ||
  a.outcome - b.outcome;

const placeOf = ({ openedAtMs, marketId, outcome }: PositionPlace): string =>
  `${openedAtMs}-${marketId}-${outcome}`;

function parsePlace(cursor: string): PositionPlace {
  const [, openedAtMs, marketId = '', outcome] = POSITION_CURSOR.exec(cursor) ?? [];
  if (openedAtMs === undefined) throw new Refusal('INVALID_CURSOR');
  return { openedAtMs: Number(openedAtMs), marketId, outcome: outcome === '1' ? 1 : 0 };
}

function parseCursor(cursor: string): Place {
  const parts = CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  return { entry: Number(parts[1]), line: Number(parts[2]) };
}
