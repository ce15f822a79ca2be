import { randomInt } from 'node:crypto';
import { DRAWS, tell } from './telling';

/** Whether the file that runs is the long form of another: `fuzz.long.test.ts` imports `fuzz.test.ts`. */
const IS_LONG = expect.getState().testPath?.endsWith('.long.test.ts') === true;

/** A size of a test, in its usual and in its long form; the variable sets another one. */
export const sizeOf = (variable: string, usual: number, long: number): number =>
  Number(process.env[variable] ?? (IS_LONG ? long : usual));

/** SAMPLE=all takes everything, as the long form does; SAMPLE=7 repeats the sample that a run printed as 7. The default is 0. */
const SAMPLE = process.env.SAMPLE ?? (IS_LONG ? 'all' : '');

/** One place in each `step`; undefined when everything is taken. */
function placeOf(what: string, step: number): number | undefined {
  if (SAMPLE === 'all' || step <= 1) return undefined;
  const place = SAMPLE === '' && DRAWS ? randomInt(step) : Number(SAMPLE) % step;
  tell(`one in ${step} ${what}: seed SAMPLE=${place} repeats them, SAMPLE=all takes every one`);
  return place;
}

/** Takes some rows of a list that takes too long for every run of `npm test`: evenly spread. `npm run test:random` takes others in each run. */
export function sampleOf<T>(what: string, list: readonly T[], count: number): readonly T[] {
  const step = Math.max(1, Math.floor(list.length / count));
  const place = placeOf(what, step);
  return place === undefined ? list : list.filter((_, at) => at % step === place);
}

/** The same for tests that are written one by one: one in `step` runs, and jest shows the others as skipped. */
export function storyOf(what: string, step: number): (...story: Parameters<jest.It>) => void {
  const place = placeOf(what, step);
  let at = 0;
  return (...story) => (place === undefined || at++ % step === place ? test : test.skip)(...story);
}
