import type { MarketId } from '../../../exchange/market';
import { isFinal, ORDER_STATUSES } from '../../../exchange/status';
import type { ArchivedOrder } from '../../../store/lists/archived-reads';
import { isBefore, type StreamPlace } from '../../../store/lists/places';
import { MATCH_FILL, MATCH_HEAD, ORDER_BODY, ORDER_CHANGES, SETTLEMENT } from '../../../store/records/layout';
import { countFills } from '../../../store/records/order';
import type { Batch } from '../archive';

/** Records that are about to leave Redis, as Redis has them. */
export interface Leaving {
  readonly orders: readonly StoredOrder[];
  /** The next matches of some markets, oldest first. */
  readonly markets: readonly LeavingMatches[];
  /** The oldest lines of some journals. */
  readonly journals: readonly LeavingLines[];
}

export interface StoredOrder {
  readonly hash: Buffer;
  readonly packed: Buffer;
}

export interface LeavingMatches {
  readonly marketId: MarketId;
  readonly matches: readonly SettledMatch[];
}

/** A match with the records of its settlement, part by part. */
export interface SettledMatch extends StreamPlace {
  readonly packed: Buffer;
  readonly settlements: readonly Buffer[];
}

export interface LeavingLines {
  readonly wallet: Buffer;
  /** The number of the first line: how many were archived before. */
  readonly from: number;
  readonly lines: readonly Buffer[];
}

export const NONE_LEAVING: Leaving = { orders: [], markets: [], journals: [] };

const RANK_STEP = 1_000;
const HASH_BYTES = 32;
/** A line of a journal has its time behind its type. */
export const lineMs = (line: Buffer): number => line.readUIntBE(1, 6);

/** The last match of a market that left, or leaves before this order. */
export type LeftOf = (marketId: MarketId) => StreamPlace | null;

export const marketOf = (packed: Buffer): MarketId =>
  packed.toString('latin1', ORDER_BODY.at.marketId, ORDER_BODY.bytes);

/** The order is final, ended long enough ago, and none of its matches stays in Redis. */
export function isOver(packed: Buffer, beforeMs: number, leftOf: LeftOf): boolean {
  const from = packed.length - ORDER_CHANGES.bytes;
  if (from < 0 || !isFinalCode(packed[packed.length - 1])) return false;
  const { updatedAtMs, fillCount, fillMs, fillSequence } = ORDER_CHANGES.get;
  if (updatedAtMs(packed, from) > beforeMs) return false;
  if (fillCount(packed, from) === 0) return true;
  const last = { tradeMs: fillMs(packed, from), sequence: fillSequence(packed, from) };
  const left = leftOf(marketOf(packed));
  return left !== null && !isBefore(left, last);
}

const isFinalCode = (code: number | undefined): boolean => {
  const status = ORDER_STATUSES[code ?? -1];
  return status !== undefined && isFinal(status);
};

export function archivedOf({ hash, packed }: StoredOrder): ArchivedOrder {
  if (!isFinalCode(packed.at(-1))) throw new Error('an order that is not final is not archived');
  const { createdAtMs, sequence, maker } = ORDER_BODY.get;
  const rank = createdAtMs(packed) * RANK_STEP + (sequence(packed) % RANK_STEP);
  return { hash, marketId: marketOf(packed), wallet: maker(packed), rank, record: packed };
}

/** The orders of a match, each once, the taker first. */
export function ordersOf(packed: Buffer): Buffer[] {
  const found = new Map<string, Buffer>();
  const add = (at: number): void => {
    const hash = packed.subarray(at, at + HASH_BYTES);
    found.set(hash.toString('latin1'), hash);
  };
  add(0);
  for (let i = 0; i < countFills(packed); i++) add(MATCH_HEAD.bytes + i * MATCH_FILL.bytes);
  return [...found.values()];
}

/** The rows of the archive. */
export function batchOf({ orders, markets, journals }: Leaving): Batch {
  return {
    orders: orders.map(archivedOf),
    matches: markets.flatMap(({ marketId, matches }) =>
      matches.map(({ tradeMs, sequence, packed }) => ({
        marketId,
        tradeMs,
        sequence,
        packed,
        orders: ordersOf(packed),
      })),
    ),
    settlements: markets.flatMap(({ marketId, matches }) =>
      matches.flatMap(({ sequence, settlements }) =>
        settlements.map((record, part) => ({
          marketId,
          sequence,
          part,
          record,
          listMs: SETTLEMENT.get.listMs(record),
          listIndex: SETTLEMENT.get.listIndex(record),
        })),
      ),
    ),
    lines: journals.flatMap(({ wallet, from, lines }) =>
      lines.map((line, i) => ({ wallet, entry: from + i, atMs: lineMs(line), line })),
    ),
    parts: [],
  };
}
