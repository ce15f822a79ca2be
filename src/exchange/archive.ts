/** The archive as the rest of the exchange sees it: where the records of orders are that are over and have left Redis. */

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

/** The place of an order in the list of its wallet, newest first; within a rank by hash. */
export interface WalletPlace {
  readonly rank: number;
  readonly hash: Buffer;
}

export interface ArchiveState {
  /** Given to it once, so that no exchange takes another's archive for its own. */
  readonly id: string;
  /** The number of the latest batch that was added. */
  readonly batch: number;
}

export interface ArchiveSize {
  readonly orders: number;
  readonly bytes: number;
}

/** Reads and writes of the archive. All of them throw UNAVAILABLE when it does not answer. */
export interface Archive {
  /** Null while nothing was ever archived there. */
  state(): Promise<ArchiveState | null>;
  /** Those that it has, in any order. */
  orders(hashes: readonly Buffer[]): Promise<ArchivedOrder[]>;
  /** The next orders of a wallet behind a place, newest first. */
  ofWallet(wallet: Buffer, behind: WalletPlace | null, most: number): Promise<ArchivedOrder[]>;
  /** Makes the tables that are missing, and the id. */
  open(): Promise<ArchiveState>;
  /** Adds a batch, whole or not at all; false when it is not the next one. A row of the same order is replaced. */
  append(batch: number, orders: readonly ArchivedOrder[]): Promise<boolean>;
  /** Deletes the batches behind this one: nothing of them was forgotten. Returns how many orders that were. */
  cutBack(batch: number): Promise<number>;
  /** All orders, in steps, by rank and hash. */
  walk(behind: WalletPlace | null, most: number): Promise<ArchivedOrder[]>;
  size(): Promise<ArchiveSize>;
  close(): Promise<void>;
}
