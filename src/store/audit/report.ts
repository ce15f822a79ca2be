import type { Difference, DifferenceKind } from '../../exchange/audit';

export type DifferenceOf<Kind extends string> = Omit<Difference, 'kind'> & { readonly kind: Kind };

/** The most differences that are listed; beyond these only their number is reported. */
const DIFFERENCES_MAX = 10_000;

export interface Findings<Kind extends string = DifferenceKind> {
  add(difference: DifferenceOf<Kind>): void;
  /** Adds a difference unless both values are equal. */
  compare(
    expected: string,
    found: string,
    difference: Omit<DifferenceOf<Kind>, 'expected' | 'found'> & { readonly kind: Kind },
  ): void;
  list(): readonly DifferenceOf<Kind | 'MORE_DIFFERENCES'>[];
}

export function createFindings<Kind extends string = DifferenceKind>(): Findings<Kind> {
  const named: DifferenceOf<Kind>[] = [];
  let more = 0;
  function add(difference: DifferenceOf<Kind>): void {
    if (named.length < DIFFERENCES_MAX) named.push(difference);
    else more++;
  }
  return {
    add,
    compare(expected, found, difference) {
      if (expected !== found) add({ ...difference, expected, found } as DifferenceOf<Kind>);
    },
    list: () =>
      more === 0
        ? named
        : [...named, { kind: 'MORE_DIFFERENCES', detail: `${more} more differences are not named here` }],
  };
}
