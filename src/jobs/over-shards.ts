import type { Chore } from './schedule';

/** How long a chore waits for its shards. A slower one continues meanwhile, and the chore skips it until it has ended. */
const WAIT_MS = 500;
/** A shard that the chore skips for longer counts as a failure. */
const LATE_MS = 10_000;

/** How the chore stands in one shard. */
interface Turn {
  /** By performance.now(); null when nothing is under way. */
  sinceMs: number | null;
  failure: Error | null;
}

/** The same chore in each shard: one shard that fails or does not answer holds up no other. */
export function choresOverShards(ofShards: readonly (readonly Chore[])[]): readonly Chore[] {
  const [first = [], ...others] = ofShards;
  if (others.length === 0) return first;
  return first.map(({ name, everyMs }) => {
    const same = ofShards.map((chores) => chores.find((chore) => chore.name === name));
    return { name, everyMs, run: overShards(same.map((chore) => async () => chore?.run())) };
  });
}

/** Throws at the end what failed, also what failed after the last call had ended. */
function overShards(acts: readonly (() => Promise<void>)[]): () => Promise<void> {
  const turns = acts.map((): Turn => ({ sinceMs: null, failure: null }));

  async function act(shard: number, turn: Turn): Promise<void> {
    if (turn.sinceMs !== null) return;
    turn.sinceMs = performance.now();
    try {
      await acts[shard]?.();
    } catch (error) {
      turn.failure = error instanceof Error ? error : new Error(String(error));
    } finally {
      turn.sinceMs = null;
    }
  }

  return async () => {
    await withinMs(WAIT_MS, Promise.all(turns.map((turn, shard) => act(shard, turn))));
    const failures = turns.flatMap((turn, shard) => {
      const text = outcomeOf(turn);
      return text === null ? [] : [`shard ${shard}: ${text}`];
    });
    if (failures.length > 0) throw new Error(`${failures.join('; ')}; the other shards are done`);
  };
}

function outcomeOf(turn: Turn): string | null {
  const { failure, sinceMs } = turn;
  turn.failure = null;
  if (failure) return failure.message;
  const lateMs = sinceMs === null ? 0 : performance.now() - sinceMs;
  return lateMs < LATE_MS ? null : `under way for ${Math.floor(lateMs / 1_000)} s`;
}

async function withinMs(limitMs: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([done, late]).finally(() => clearTimeout(timer));
}
