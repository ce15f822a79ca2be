/** Uniform in [0, 1). */
export type Random = () => number;

/** A draw from a normal distribution of mean 0 and deviation 1 (Box and Muller). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** About `usual`, now and then much more. */
export const spread = (random: Random, usual: number): number => usual * Math.exp(0.5 * normal(random));

export const chance = (random: Random, probability: number): boolean => random() < probability;

export function pick<T>(random: Random, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)];
}
