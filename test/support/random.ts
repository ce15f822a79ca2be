/** Small seeded generator (mulberry32): the same seed gives the same operations on every machine. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** Whole number from 0 to below `most`. */
  below(most: number): number;
  /** Whole number from `low` up to and including `high`. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** A key of `weights`, as often as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(list: readonly T[]): T => {
    const found = list[int(0, list.length - 1)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  };
  function weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = next() * entries.reduce((total, [, weight]) => total + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return pick(entries)[0];
  }
  return {
    next,
    below: (most) => int(0, most - 1),
    int,
    chance: (probability) => next() < probability,
    pick,
    weighted,
  };
}
