/** A map that keeps what was used lately: at least the latest `max` entries, and at most twice as many. */
export interface Recent<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
}

/** Two generations: a hit in the younger one is one look-up, and the older one is dropped whole when the younger is full. */
export function createRecent<T>(max: number): Recent<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();

  function put(key: string, value: T): void {
    if (young.size >= max) {
      old = young;
      young = new Map();
    }
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
