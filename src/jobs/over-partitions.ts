import type { Chore } from './schedule';

/** How long a chore waits for its partitions. A slower one continues meanwhile, and the chore skips it until it has ended. */
const WAIT_MS = 500;
/** A partition that the chore skips for longer counts as a failure. */
const LATE_MS = 10_000;

/** A chore in one partition. */
interface Turn {
  /** By performance.now(); null when nothing is under way. */
  sinceMs: number | null;
  failure: Error | null;
}

interface Options {
  /** By which errors name the partitions. */
  readonly names?: readonly string[];
  readonly lateMs?: number;
}

/** The same chore in each partition: one that fails or does not answer holds up no other. */
export function choresOverPartitions(
  inEach: readonly (readonly Chore[])[],
  { names = inEach.map((_, i) => `partition ${i}`), lateMs = LATE_MS }: Options = {},
): readonly Chore[] {
  const [first = [], ...others] = inEach;
  if (others.length === 0) return first;
  return first.map(({ name, everyMs }) => {
    const same = inEach.map((chores) => chores.find((chore) => chore.name === name));
    return {
      name,
      everyMs,
      run: overPartitions(
        same.map((chore) => async () => chore?.run()),
        names,
        lateMs,
      ),
    };
  });
}

/** Throws at the end what failed, also what failed after the last call had ended. */
function overPartitions(
  acts: readonly (() => Promise<void>)[],
  names: readonly string[],
  lateMs: number,
): () => Promise<void> {
  const turns = acts.map((): Turn => ({ sinceMs: null, failure: null }));

  async function act(partition: number, turn: Turn): Promise<void> {
    if (turn.sinceMs !== null) return;
    turn.sinceMs = performance.now();
    try {
      await acts[partition]?.();
    } catch (error) {
      turn.failure = error instanceof Error ? error : new Error(String(error));
    } finally {
      turn.sinceMs = null;
    }
  }

  return async () => {
    await withinMs(WAIT_MS, Promise.all(turns.map((turn, partition) => act(partition, turn))));
    const failures = turns.flatMap((turn, partition) => {
      const text = outcomeOf(turn, lateMs);
      return text === null ? [] : [`${names[partition]}: ${text}`];
    });
    if (failures.length > 0) throw new Error(`${failures.join('; ')}; the others are done`);
  };
}

function outcomeOf(turn: Turn, limitMs: number): string | null {
  const { failure, sinceMs } = turn;
  turn.failure = null;
  if (failure) return failure.message;
  const lateMs = sinceMs === null ? 0 : performance.now() - sinceMs;
  return lateMs < limitMs ? null : `under way for ${Math.floor(lateMs / 1_000)} s`;
}

async function withinMs(limitMs: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([done, late]).finally(() => clearTimeout(timer));
}
