import { Refusal } from '../../../exchange/errors';
import { isAnswered } from '../../../store/redis/refusals';

/** The answers of some shards and the errors of the others, by their numbers. */
export interface Answers<T> {
  readonly done: ReadonlyMap<number, T>;
  readonly failed: ReadonlyMap<number, unknown>;
}

/** Asks shards at once. It waits for each of them, so nothing is still on its way when it returns. */
export async function askAll<T>(
  shards: readonly number[],
  ask: (shard: number) => Promise<T>,
): Promise<Answers<T>> {
  const done = new Map<number, T>();
  const failed = new Map<number, unknown>();
  await Promise.all(
    shards.map((shard) =>
      ask(shard).then(
        (answer) => void done.set(shard, answer),
        (error: unknown) => void failed.set(shard, error),
      ),
    ),
  );
  return { done, failed };
}

/** Throws why the first of those that failed did. */
export function orThrow<T>({ done, failed }: Answers<T>): ReadonlyMap<number, T> {
  for (const error of failed.values()) throw error;
  return done;
}

/** The first answer that is not null, without waiting for the others; the errors of those that did not answer. */
export async function firstOf<T>(
  asked: readonly Promise<T | null>[],
): Promise<{ readonly found: T | null; readonly silent: readonly unknown[] }> {
  const silent: unknown[] = [];
  return new Promise((resolve) => {
    const ends = asked.map((one) =>
      one.then(
        (found) => (found === null ? undefined : resolve({ found, silent })),
        (error: unknown) => void silent.push(error),
      ),
    );
    void Promise.all(ends).then(() => resolve({ found: null, silent }));
  });
}

/** The error of a shard as the caller learns it: a refusal, and an error with which Redis answered, as it is; silence as `refusal`. */
export const toldAs = (error: unknown, refusal: Refusal): unknown =>
  error instanceof Refusal || isAnswered(error) ? error : refusal;
