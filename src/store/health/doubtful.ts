import type { DurabilityChecks } from './durability';

/** Data that a process caches only while it certainly belongs to the current history. */
export interface Doubtful<K, V> {
  get(key: K): V | undefined;
  /** Stores a value, unless there was a doubt since its read began, at the number `at`. */
  keep(key: K, value: V, at: number): void;
  delete(key: K): void;
  clear(): void;
}

/** Forgets everything at a doubt (src/store/health/durability.ts), and when it has `most` entries. */
export function createDoubtful<K, V>(doubts: DurabilityChecks['doubts'], most: number): Doubtful<K, V> {
  const entries = new Map<K, V>();
  let keptAt = doubts();

  function forgetDoubtful(): void {
    if (keptAt === doubts()) return;
    entries.clear();
    keptAt = doubts();
  }

  return {
    get(key) {
      forgetDoubtful();
      return entries.get(key);
    },
    keep(key, value, at) {
      forgetDoubtful();
      if (at !== keptAt) return;
      if (entries.size >= most && !entries.has(key)) entries.clear();
      entries.set(key, value);
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
