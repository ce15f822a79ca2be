/** A map that keeps recently used entries: they weigh at least `max` together, and at most twice as much. */
export interface Recent<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
}

/**
 * Two generations: a hit in the younger one is one look-up, and the older one is dropped as a whole when the younger is full.
 * An entry weighs 1 unless `weigh` returns another weight.
 */
export function createRecent<T>(max: number, weigh: (value: T) => number = () => 1): Recent<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  let weight = 0;

  function put(key: string, value: T): void {
    if (weight >= max) {
      old = young;
      young = new Map();
      weight = 0;
    }
    const before = young.get(key);
    weight += weigh(value) - (before === undefined ? 0 : weigh(before));
    young.set(key, value);
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) put(key, older);
      return older;
    },
    put,
  };
}
