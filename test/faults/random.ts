/** Numbers that a seed repeats (mulberry32). */
export interface Random {
  /** 0 to below 1. */
  next(): number;
  /** From 0 to below `most`. */
  int(most: number): number;
  pick<T>(list: readonly T[]): T;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (most: number): number => Math.floor(next() * most);
  return { next, int, pick: (list) => list[int(list.length)] as (typeof list)[number] };
}
