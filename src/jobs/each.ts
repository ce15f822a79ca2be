/** So many failures in a row are no trouble of single markets: Redis is away, and is not asked for all others, too. */
const FAILURES_IN_A_ROW_MAX = 50;
/** Failures that the message tells. */
const TOLD_MAX = 5;

/**
 * Does something for each of a list, one after the other, whatever becomes of those before. Throws in the end, so that a
 * chore that could not do all of its work is seen to have failed.
 */
export async function forEach<T>(
  list: Iterable<T>,
  nameOf: (one: T) => string,
  act: (one: T) => Promise<void>,
): Promise<void> {
  const failures: string[] = [];
  let inARow = 0;
  for (const one of list) {
    try {
      await act(one);
      inARow = 0;
    } catch (error) {
      failures.push(`${nameOf(one)}: ${error instanceof Error ? error.message : String(error)}`);
      if (++inARow === FAILURES_IN_A_ROW_MAX) break;
    }
  }
  if (failures.length === 0) return;
  const told = failures.slice(0, TOLD_MAX).join('; ');
  throw new Error(`${failures.length} failed, the others are done: ${told}`);
}

export const forEachMarket = (ids: Iterable<string>, act: (id: string) => Promise<void>): Promise<void> =>
  forEach(ids, (id) => `market ${id}`, act);
