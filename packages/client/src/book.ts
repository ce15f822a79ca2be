import { complementPrice } from './amounts';
import { crc32 } from './crc32';
import type { Decimal, Orderbook, OutcomeIndex } from './types';
import type { BookUpdate } from './types-live';

export interface BookLevel {
  readonly price: Decimal;
  readonly size: Decimal;
}

/** Best price first on both sides. */
export interface BookSides {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

/** The Yes book at one sequence. It is immutable; an update makes another book. */
export interface Book extends BookSides {
  readonly sequence: number;
}

const CHECKSUM_LEVELS = 25;

export function bookOf({ sequence, bids, asks }: Orderbook): Book {
  const levels = (side: Orderbook['bids']): BookLevel[] => side.map(({ price, size }) => ({ price, size }));
  return { sequence, bids: levels(bids), asks: levels(asks) };
}

/** The book at `update.sequence`, if this book is at `previousSequence` or later. */
export function applyUpdate(book: Book, { sequence, changes }: BookUpdate): Book {
  return {
    sequence,
    bids: changed(book.bids, changes.bids, -1),
    asks: changed(book.asks, changes.asks, 1),
  };
}

/** `direction` is 1 where prices rise from best to worst. */
function changed(
  levels: readonly BookLevel[],
  changes: readonly (readonly [Decimal, Decimal])[],
  direction: 1 | -1,
): readonly BookLevel[] {
  if (changes.length === 0) return levels;
  const next = [...levels];
  for (const [price, size] of changes) {
    const at = placeOf(next, Number(price) * direction, direction);
    const isThere = next[at]?.price === price;
    if (size === '0') {
      if (isThere) next.splice(at, 1);
    } else next.splice(at, isThere ? 1 : 0, { price, size });
  }
  return next;
}

/** The position of a price, present or not. Four decimals compare exactly as numbers. */
function placeOf(levels: readonly BookLevel[], wanted: number, direction: 1 | -1): number {
  let low = 0;
  let high = levels.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Number(levels[middle]?.price) * direction < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The fields that the exchange sends with a book at this sequence. */
export const checksumOf = ({ sequence, bids, asks }: Book): string =>
  crc32(`${sequence}|b:${sideText(bids)}|a:${sideText(asks)}`);

const sideText = (levels: readonly BookLevel[]): string =>
  levels
    .slice(0, CHECKSUM_LEVELS)
    .map(({ price, size }) => `${price}:${size}`)
    .join(',');

/** The book from the view of that outcome: a bid for No is an ask for Yes at 1 - price. */
export function viewOf({ bids, asks }: BookSides, outcomeIndex: OutcomeIndex): BookSides {
  return outcomeIndex === 0 ? { bids, asks } : { bids: mirrored(asks), asks: mirrored(bids) };
}

const mirrored = (levels: readonly BookLevel[]): BookLevel[] =>
  levels.map(({ price, size }) => ({ price: complementPrice(price), size }));
