import type { Failure } from './harness';
import type { Operation } from './operations';

/**
 * Delta debugging: omits ever smaller parts of a failing list as long as the rest still fails, by any check. At most `tries`
 * runs.
 */
export async function shrink(
  operations: readonly Operation[],
  first: Failure,
  fails: (operations: readonly Operation[]) => Promise<Failure | null>,
  tries = 400,
): Promise<{ operations: readonly Operation[]; failure: Failure }> {
  let kept = operations.slice(0, first.at + 1);
  let failure = first;
  let left = tries;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length && left > 0; left--) {
      const shorter = [...kept.slice(0, from), ...kept.slice(from + size)];
      const found = shorter.length > 0 ? await fails(shorter) : null;
      if (found) {
        kept = shorter.slice(0, found.at + 1);
        failure = found;
      } else {
        from += size;
      }
    }
  }
  return { operations: kept, failure };
}
