/** Ids of stream entries: `<milliseconds>-<number>`. */

/** Before every entry. */
export const NO_ENTRY = '0-0';

export function isBefore(a: string, b: string): boolean {
  const [aMs = 0, aIndex = 0] = a.split('-').map(Number);
  const [bMs = 0, bIndex = 0] = b.split('-').map(Number);
  return aMs < bMs || (aMs === bMs && aIndex < bIndex);
}
