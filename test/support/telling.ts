import { randomInt } from 'node:crypto';

/** Prints a figure or a seed: `npm test` shows these lines, and repeats those with a seed at its end. */
export const tell = (line: string): void => void process.stdout.write(`${line}\n`);

const SEED_MAX = 2 ** 31;

/** A new seed in each run, printed in the form that repeats it; SEED chooses one. */
export function chooseSeed(what: string): number {
  const seed = Number(process.env.SEED ?? randomInt(1, SEED_MAX));
  tell(`SEED=${seed} repeats: ${what}`);
  return seed;
}
