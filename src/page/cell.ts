import { useEffect, useState } from 'preact/hooks';

/** A value that notifies its listeners when it changes. */
export interface Cell<T> {
  get(): T;
  set(next: T): void;
  subscribe(listener: () => void): () => void;
}

export function cell<T>(initial: T): Cell<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value of a cell; the component renders again when it changes. */
export function useCell<T>(source: Cell<T>): T {
  const [value, setValue] = useState(source.get);
  useEffect(() => {
    const read = (): void => setValue(() => source.get());
    // It may have changed between the first rendering and now.
    read();
    return source.subscribe(read);
  }, [source]);
  return value;
}
