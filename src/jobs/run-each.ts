/** Maximum failures in a row: Redis is probably unreachable then, so the loop stops. */
const FAILURES_IN_A_ROW_MAX = 50;
/** The number of failures that the message lists. */
const NAMED_MAX = 5;

/**
 * Runs a task for each item of a list in turn, even after a failure. It throws at the end if any task failed, so the chore
 * counts as failed.
 */
export async function runEach<T>(
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
  const named = failures.slice(0, NAMED_MAX).join('; ');
  throw new Error(`${failures.length} failed, the others are done: ${named}`);
}

export const runEachMarket = (ids: Iterable<string>, act: (id: string) => Promise<void>): Promise<void> =>
  runEach(ids, (id) => `market ${id}`, act);
