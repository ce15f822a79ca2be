import { randomInt } from 'node:crypto';

/** Prints a figure or a seed: `npm test` shows these lines, and repeats those with a seed at its end. */
export const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** The seed of every run but those of `npm run test:random`. */
const FIXED_SEED = 20_261_128;
const SEED_MAX = 2 ** 31;

/** Whether this run draws seeds and samples: `npm run test:random` sets RANDOM=1. */
export const DRAWS = process.env.RANDOM === '1';

/** The same number in every run; `npm run test:random` draws another one each time. */
export const freshSeed = (): number => (DRAWS ? randomInt(1, SEED_MAX) : FIXED_SEED);

/** The seed of a test, printed in the form that repeats it; SEED chooses one. */
export function chooseSeed(what: string): number {
  const seed = Number(process.env.SEED ?? freshSeed());
  tell(`SEED=${seed} repeats: ${what}`);
  return seed;
}
