import type { Environment } from './load';
import { VARIABLES } from './variables';

const KNOWN = Object.keys(VARIABLES);
/** Names of this length or less are too near to those of other programs, such as HOME to HOST. */
const SHORT = 4;
const LONG = 10;

/**
 * Variables that nothing reads and whose names are almost those of known ones, such as TRUST_PROXI. Others belong to other
 * programs. One edit makes a near miss, two in a long name.
 */
export function misspelt(env: Environment): { readonly variable: string; readonly known: string }[] {
  return Object.keys(env)
    .filter((variable) => !KNOWN.includes(variable))
    .flatMap((variable) => {
      const known = KNOWN.find((name) => isNear(variable.toUpperCase(), name));
      return known === undefined ? [] : [{ variable, known }];
    });
}

function isNear(given: string, known: string): boolean {
  if (known.length <= SHORT) return false;
  return edits(given, known) <= (known.length >= LONG ? 2 : 1);
}

/** The Levenshtein distance, and a swap of two neighbours as one edit. */
function edits(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const substituted = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      (rows[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, substituted, swapped);
    }
  }
  return at(a.length, b.length);
}
