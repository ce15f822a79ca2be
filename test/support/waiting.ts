import { setTimeout as sleep } from 'node:timers/promises';

/** Names for waits: `sleep` for a length of time, `until` for a condition, `eventually` for an expectation. */
export { sleep };

/** A busy machine takes ten times as long as a quiet one; a test that hangs ends by its own limit (jest.config.js). */
const PATIENCE_MS = 90_000;
const POLL_MS = 20;
const EXPECTATION_MS = 60_000;
/** The patience of a first connection to a Redis that has just been started. */
export const READY_MS = 60_000;
const EXPECTATION_POLL_MS = 50;

export interface Waiting {
  readonly patienceMs?: number;
  readonly pollMs?: number;
  /** Text that the error adds, for example the output of a process. */
  readonly explain?: () => string;
  /** The condition cannot become true any more: the wait ends at once. */
  readonly isLost?: () => boolean;
}

/** Waits until a condition holds; rejects with its name if it does not hold in time. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { patienceMs = PATIENCE_MS, pollMs = POLL_MS, explain, isLost = () => false }: Waiting = {},
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt || isLost())
      throw new Error(`still not: ${what}${explain ? `\n${explain()}` : ''}`);
    await sleep(pollMs);
  }
}

/** Repeats an expectation until it holds; rejects with its latest failure. Resolves with its result. */
export async function eventually<T>(look: () => Promise<T>, holds: (seen: T) => void): Promise<T> {
  const giveUpAt = performance.now() + EXPECTATION_MS;
  for (;;) {
    const seen = await look();
    try {
      holds(seen);
      return seen;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(EXPECTATION_POLL_MS);
    }
  }
}

type Matchers = jest.JestMatchers<unknown>;
type Patient<M> = {
  readonly [Name in keyof M]: M[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => Promise<void>
    : Patient<M[Name]>;
};

/** `expect` of what a look gives, with another look until it holds: `await soon(() => field.inputValue()).toBe('26')`. */
export const soon = (look: () => Promise<unknown>): Patient<Matchers> =>
  patient(look, (seen) => expect(seen));

function patient(look: () => Promise<unknown>, of: (seen: unknown) => object): Patient<Matchers> {
  const get = (_: object, name: string): unknown =>
    name === 'not'
      ? patient(look, (seen) => (of(seen) as { not: object }).not)
      : async (...args: unknown[]): Promise<void> => {
          await eventually(look, (seen) =>
            (of(seen) as Record<string, (...all: unknown[]) => void>)[name]?.(...args),
          );
        };
  return new Proxy({}, { get }) as Patient<Matchers>;
}

const MINUTE_MS = 60_000;

/** The result of work that began and ended in the same minute: with the next one, figures of the last day change. */
export async function inOneMinute<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    const done = await work();
    if (Math.floor(Date.now() / MINUTE_MS) === minute) return done;
  }
}
