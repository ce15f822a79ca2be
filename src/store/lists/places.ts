/** The place of an order in the list of its wallet, newest first; within a rank by hash. */
export interface WalletPlace {
  readonly rank: number;
  readonly hash: Buffer;
}

/** The place of a match in the stream of its market. */
export interface StreamPlace {
  readonly tradeMs: number;
  readonly sequence: number;
}

/** The place of a settlement in the list of all settlements (lua/lib/settlements.lua). */
export interface ListPlace {
  readonly listMs: number;
  readonly listIndex: number;
}

/** From the first place to the last, both included; newest first when descending. */
export interface Stretch<Place> {
  readonly from: Place;
  readonly to: Place;
  readonly descending: boolean;
  readonly most: number;
}

/** Places in a market's stream of matches: by time, within a millisecond by sequence. */

const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;
/** A whole number of PostgreSQL of 4 bytes. */
const INDEX_MAX = 2 ** 31 - 1;

export const FIRST_MATCH: StreamPlace = { tradeMs: 0, sequence: 0 };
export const LAST_MATCH: StreamPlace = { tradeMs: SEQUENCE_MAX, sequence: SEQUENCE_MAX };

export const isBefore = (a: StreamPlace, b: StreamPlace): boolean =>
  a.tradeMs < b.tradeMs || (a.tradeMs === b.tradeMs && a.sequence < b.sequence);
export const isSamePlace = (a: StreamPlace, b: StreamPlace): boolean =>
  a.tradeMs === b.tradeMs && a.sequence === b.sequence;
export const earlier = (a: StreamPlace, b: StreamPlace): StreamPlace => (isBefore(a, b) ? a : b);

/** The next place below. */
export const below = ({ tradeMs, sequence }: StreamPlace): StreamPlace =>
  sequence > 0 ? { tradeMs, sequence: sequence - 1 } : { tradeMs: tradeMs - 1, sequence: SEQUENCE_MAX };
export const above = ({ tradeMs, sequence }: StreamPlace): StreamPlace => ({
  tradeMs,
  sequence: sequence + 1,
});

export const matchPlace = (id: string | Buffer): StreamPlace => {
  const [tradeMs = 0, sequence = 0] = id.toString().split('-').map(Number);
  return { tradeMs, sequence };
};
export const entryId = ({ tradeMs, sequence }: StreamPlace): string => `${tradeMs}-${sequence}`;

/** The same of the list of settlements. */
export const FIRST_LISTED: ListPlace = { listMs: 0, listIndex: 0 };
export const LAST_LISTED: ListPlace = { listMs: SEQUENCE_MAX, listIndex: INDEX_MAX };

export const compareListed = (a: ListPlace, b: ListPlace): number =>
  a.listMs - b.listMs || a.listIndex - b.listIndex;
export const belowListed = ({ listMs, listIndex }: ListPlace): ListPlace =>
  listIndex > 0 ? { listMs, listIndex: listIndex - 1 } : { listMs: listMs - 1, listIndex: INDEX_MAX };
export const aboveListed = ({ listMs, listIndex }: ListPlace): ListPlace => ({
  listMs,
  listIndex: listIndex + 1,
});
export const listedPlace = (id: string | Buffer): ListPlace => {
  const [listMs = 0, listIndex = 0] = id.toString().split('-').map(Number);
  return { listMs, listIndex };
};
export const listedId = ({ listMs, listIndex }: ListPlace): string => `${listMs}-${listIndex}`;
