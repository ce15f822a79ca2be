/** A map of at most `max` entries; the least recently used one makes room. */
export interface Recent<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
}

export function createRecent<T>(max: number): Recent<T> {
  // A Map lists its keys in the order in which they were put.
  const entries = new Map<string, T>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    put(key, value) {
      if (entries.size >= max) entries.delete(entries.keys().next().value ?? '');
      entries.set(key, value);
    },
  };
}
