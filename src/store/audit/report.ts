import type { Difference } from '../../exchange/audit';

/** The most differences that are listed; beyond these only their number is reported. */
const DIFFERENCES_MAX = 10_000;

export interface Findings {
  add(difference: Difference): void;
  /** Adds a difference unless both values are equal. */
  compare(expected: string, found: string, difference: Omit<Difference, 'expected' | 'found'>): void;
  list(): readonly Difference[];
}

export function createFindings(): Findings {
  const named: Difference[] = [];
  let more = 0;
  function add(difference: Difference): void {
    if (named.length < DIFFERENCES_MAX) named.push(difference);
    else more++;
  }
  return {
    add,
    compare(expected, found, difference) {
      if (expected !== found) add({ ...difference, expected, found });
    },
    list: () =>
      more === 0
        ? named
        : [...named, { kind: 'MORE_DIFFERENCES', detail: `${more} more differences are not named here` }],
  };
}
