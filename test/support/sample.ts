import { randomInt } from 'node:crypto';
import { tell } from './telling';

/**
 * Some of a list that takes too long for every run of `npm test`: evenly spread, and others each time. PLANTED=all (`npm
 * run test:long`, which CI runs too) takes every one; PLANTED=7 takes every n-th from place 7.
 */
export function sampleOf<T>(what: string, list: readonly T[], count: number): readonly T[] {
  const PLANTED = process.env.PLANTED ?? '';
  if (PLANTED === 'all') return list;
  const step = Math.max(1, Math.floor(list.length / count));
  const first = PLANTED === '' ? randomInt(step) : Number(PLANTED) % step;
  const chosen = list.filter((_, at) => at % step === first);
  tell(
    `${chosen.length} of ${list.length} ${what}: seed PLANTED=${first} repeats them, PLANTED=all takes every one`,
  );
  return chosen;
}
