import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import type { OrderRecord } from '../records/order';
import type { MatchRef, SettlementKey } from '../records/settlement';
import type { ListPlace, StreamPlace, Stretch, WalletPlace } from './places';

/** An order as it was when it ended; it does not change any more. */
export interface ArchivedOrder {
  readonly hash: Buffer;
  readonly wallet: Buffer;
  /** Its place among the orders of its wallet (lua/lib/order.lua). */
  readonly rank: number;
  readonly marketId: string;
  /** As the store packs it. */
  readonly record: Buffer;
}

/** An order, and the latest of its matches that are asked for. */
export interface OrderMatches {
  readonly hash: Buffer;
  readonly upTo: StreamPlace;
}

export interface ArchivedMatch extends StreamPlace {
  readonly marketId: string;
  /** As the store packs it (lua/lib/trades.lua). */
  readonly packed: Buffer;
}

export interface ArchivedSettlement extends ListPlace {
  readonly marketId: string;
  readonly sequence: number;
  readonly part: number;
  /** As the store packs it. */
  readonly record: Buffer;
}

/** A line of a wallet's journal. */
export interface ArchivedLine {
  readonly wallet: Buffer;
  /** Its number in the journal, from 0. */
  readonly entry: number;
  readonly atMs: number;
  /** As the store packs it. */
  readonly line: Buffer;
}

/**
 * Reads of what has left Redis. Readers look in Redis first: whatever leaves is in the archive before, so what is missed in Redis is found
 * here. Nothing is asked while nothing was ever archived, and for a match only what its market says has left (lua/lib/archived_matches.lua).
 * UNAVAILABLE when the archive does not answer.
 */
export interface ArchivedReads {
  /** Those that are here, by the name of their place (`matchName`). */
  matches(refs: readonly MatchRef[]): Promise<ReadonlyMap<string, Buffer>>;
  matchesOf(marketId: MarketId, stretch: Stretch<StreamPlace>): Promise<readonly ArchivedMatch[]>;
  /** The matches of each of these orders up to a place among those that left, newest first, in one query. */
  matchesOfOrders(
    asked: readonly OrderMatches[],
    most: number,
  ): Promise<readonly (readonly ArchivedMatch[])[]>;
  /** The packed records of those that are here, by name (`settlementName`, latin1). */
  settlements(keys: readonly SettlementKey[]): Promise<ReadonlyMap<string, Buffer>>;
  /** In the order of the list, of one market or with null of all. */
  settlementsOf(
    marketId: MarketId | null,
    stretch: Stretch<ListPlace>,
  ): Promise<readonly ArchivedSettlement[]>;
  /** The packed records of those that are here, by hash. */
  packed(orderHashes: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  records(orderHashes: readonly string[]): Promise<ReadonlyMap<string, OrderRecord>>;
  /** The next orders of a wallet behind a place, newest first. */
  ofWallet(wallet: Buffer, behind: WalletPlace | null, most: number): Promise<readonly ArchivedOrder[]>;
  /** The lines of a wallet's journal with these numbers, both included, oldest first. */
  lines(wallet: Buffer, from: number, to: number): Promise<readonly ArchivedLine[]>;
  /** Rows of earlier months were dropped for their age; 0 while nothing was dropped. */
  droppedMs(): Promise<number>;
  /**
   * Packed candles of a series, in rows, from the row on that has the last candle at or before a minute; at least `most` candles behind it
   * while there are more. A rebuild of the candles raises the generation.
   */
  candles(
    marketId: MarketId,
    series: { readonly intervalMs: number; readonly generation: number },
    fromMinute: number,
    most: number,
  ): Promise<readonly Buffer[]>;
  /** The order if it is this wallet's in this market, or with null in any, and the latest sequence of its market. */
  own(
    orderHash: string,
    maker: string,
    marketId: MarketId | null,
  ): Promise<{ readonly record: OrderRecord; readonly sequence: number } | null>;
  /** The packed record of an order that may be in Redis or here. */
  anywhere(orderHash: string): Promise<Buffer | null>;
  /**
   * The packed record, for an order whose trace was met: null only when that order certainly never was. DUPLICATE_ORDER when
   * it may have been in a month that was dropped.
   */
  certain(orderHash: string): Promise<Buffer | null>;
}

/** The reads of an exchange without an archive, in which nothing leaves Redis. */
export const NO_ARCHIVED_READS: ArchivedReads = {
  matches: async () => new Map(),
  matchesOf: async () => [],
  matchesOfOrders: async (asked) => asked.map(() => []),
  settlements: async () => new Map(),
  settlementsOf: async () => [],
  packed: async () => new Map(),
  records: async () => new Map(),
  ofWallet: async () => [],
  lines: async () => [],
  droppedMs: async () => 0,
  candles: async () => [],
  own: async () => null,
  anywhere: async () => null,
  certain: async () => {
    throw new Refusal(
      'UNAVAILABLE',
      'orders are in an archive that this process does not know: set ARCHIVE_URL',
    );
  },
};

/** What an archive says of itself. */
export interface ArchiveHealth {
  /** Whether it answers; null without one. */
  readonly answers: boolean | null;
  /** Why it and this Redis do not belong together; null when they do. */
  readonly conflict: string | null;
}

/** Where the records of a partition are that have left Redis. An extension may open one. */
export interface RecordArchive {
  readonly reads: ArchivedReads;
  /** Asks it now. Rejects when Redis does not respond. */
  health(): Promise<ArchiveHealth>;
  /** Why it last did not answer; null when it always has. For an operator: it names where the archive is. */
  failure(): string | null;
}

export const NO_ARCHIVE: RecordArchive = {
  reads: NO_ARCHIVED_READS,
  health: async () => ({ answers: null, conflict: null }),
  failure: () => null,
};
