import type {
  ArchivedLine,
  ArchivedMatch,
  ArchivedOrder,
  ArchivedSettlement,
  OrderMatches,
} from '../../store/lists/archived-reads';
import type { ListPlace, StreamPlace, Stretch, WalletPlace } from '../../store/lists/places';

/** A part of what a market leaves behind when it is forgotten, such as candles or payouts. */
export interface ArchivedPart {
  readonly marketId: string;
  readonly part: string;
  /** Its place within the part, by its bytes. */
  readonly name: Buffer;
  /** When the market had paid its holders. */
  readonly atMs: number;
  readonly value: Buffer;
}

/** The records of one transaction. */
export interface Batch {
  readonly orders: readonly ArchivedOrder[];
  /** Each with the hashes of its orders, each once. */
  readonly matches: readonly (ArchivedMatch & { readonly orders: readonly Buffer[] })[];
  readonly settlements: readonly ArchivedSettlement[];
  readonly lines: readonly ArchivedLine[];
  readonly parts: readonly ArchivedPart[];
}

export const NOTHING: Batch = { orders: [], matches: [], settlements: [], lines: [], parts: [] };

/** Rows of each kind. */
export interface ArchiveRows {
  readonly orders: number;
  readonly matches: number;
  readonly settlements: number;
  readonly lines: number;
  readonly parts: number;
}

export interface ArchiveState {
  /** Given to it once, so that no exchange takes another's archive for its own. */
  readonly id: string;
  /** The number of the latest batch that was added. */
  readonly batch: number;
  /** Rows of earlier months were dropped for their age; 0 while nothing was dropped. */
  readonly droppedMs: number;
  /** The rows that were dropped for their age. */
  readonly dropped: ArchiveRows;
}

/** The rows that are there, and their bytes with their indexes. */
export interface ArchiveSize extends ArchiveRows {
  readonly bytes: number;
}

/** The database itself, for an operator. */
export interface ArchiveFacts {
  /** The major version of PostgreSQL. */
  readonly version: number;
  /** The user may make tables: a month has its own. */
  readonly mayCreate: boolean;
  /** PostgreSQL waits for its disk. */
  readonly isDurable: boolean;
  /** Bytes of the whole database. */
  readonly bytes: number;
}

/** Reads of the archive. All of them throw UNAVAILABLE when it does not answer. */
export interface ArchiveReads {
  /** Those that it has, in any order. */
  orders(hashes: readonly Buffer[]): Promise<ArchivedOrder[]>;
  /** The next orders of a wallet behind a place, newest first. */
  ofWallet(wallet: Buffer, behind: WalletPlace | null, most: number): Promise<ArchivedOrder[]>;
  /** Those that it has, in any order. */
  matches(refs: readonly (StreamPlace & { readonly marketId: string })[]): Promise<ArchivedMatch[]>;
  matchesOf(marketId: string, stretch: Stretch<StreamPlace>): Promise<ArchivedMatch[]>;
  /** The matches of each of these orders up to a place, newest first, at most `most` of each. */
  matchesOfOrders(asked: readonly OrderMatches[], most: number): Promise<ArchivedMatch[][]>;
  /** Those that it has, in any order. */
  settlements(
    keys: readonly { readonly marketId: string; readonly sequence: number; readonly part: number }[],
  ): Promise<ArchivedSettlement[]>;
  /** In the order of the list, of one market or with null of all. */
  settlementsOf(marketId: string | null, stretch: Stretch<ListPlace>): Promise<ArchivedSettlement[]>;
  /** The lines of a wallet with these numbers, both included, oldest first. */
  lines(wallet: Buffer, from: number, to: number): Promise<ArchivedLine[]>;
  /** Those that it has of a part of a market, in any order. */
  parts(marketId: string, part: string, names: readonly Buffer[]): Promise<ArchivedPart[]>;
  /** A part of a market in the order of the names: from the last one at or before a name on, or from its first. */
  partsFrom(marketId: string, part: string, from: Buffer, most: number): Promise<ArchivedPart[]>;
  /** All orders, in steps, by rank and hash. */
  walk(behind: WalletPlace | null, most: number): Promise<ArchivedOrder[]>;
  size(): Promise<ArchiveSize>;
}

/** All functions throw UNAVAILABLE when the archive does not answer. */
export interface Archive extends ArchiveReads {
  /** Null while nothing was ever archived there. */
  state(): Promise<ArchiveState | null>;
  facts(): Promise<ArchiveFacts>;
  /** Why it last did not answer; null when it always has. For an operator: it names where the archive is. */
  failure(): string | null;
  /** Makes the tables that are missing, and the id. From then on no process that opened it before adds or deletes batches. */
  open(): Promise<ArchiveState>;
  /** Adds a batch, whole or not at all; false when it is not the next one, or another process has opened it since. A row that is there is replaced. */
  append(batch: number, rows: Batch): Promise<boolean>;
  /**
   * Deletes the batches behind this one: nothing of them was forgotten. Returns how many rows that were; null, and nothing was
   * deleted, when another process has opened it since.
   */
  cutBack(batch: number): Promise<number | null>;
  /** Deletes whole months of all rows that end before this time, and notes how many rows that were. Returns their number. */
  dropBefore(ms: number): Promise<number>;
  /** Ends what it adds or deletes now without waiting for an answer; from then on it adds and deletes nothing. */
  breakOff(): void;
  close(): Promise<void>;
}
