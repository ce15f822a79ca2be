import type { Level } from '../../exchange/facts';
import type { Lots, Pips } from '../../exchange/units';
import { bookChecksum } from '../../wire/answers/book';

/** A market's book, updated in place: both sides in Yes, best first. */
export interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  /** A level without orders is removed. */
  set(side: 'b' | 'a', level: Level): void;
  /** Open lots at a level; 0 when there is none. */
  sizeAt(side: 'b' | 'a', pricePips: Pips): Lots;
  checksum(sequence: number): string;
}

export function createBook(start: {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}): Book {
  const bids = [...start.bids];
  const asks = [...start.asks];
  const sides = { b: bids, a: asks };

  /** The position of a price on its side, present or not. */
  function placeOf(side: 'b' | 'a', pricePips: Pips): number {
    const levels = sides[side];
    const sign = side === 'b' ? -1 : 1;
    let low = 0;
    let high = levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sign * ((levels[middle]?.pricePips ?? 0) - pricePips) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    bids,
    asks,
    set: (side, level) => {
      const at = placeOf(side, level.pricePips);
      const known = sides[side][at]?.pricePips === level.pricePips ? 1 : 0;
      if (level.orders === 0) sides[side].splice(at, known);
      else sides[side].splice(at, known, level);
    },
    sizeAt: (side, pricePips) => {
      const level = sides[side][placeOf(side, pricePips)];
      return level?.pricePips === pricePips ? level.sizeLots : (0 as Lots);
    },
    checksum: (sequence) => bookChecksum({ sequence, bids, asks }),
  };
}
