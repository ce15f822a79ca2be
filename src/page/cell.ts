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
export const useCell = <T>(source: Cell<T>): T => usePart(source, (value) => value);

/** A part of the value; the component renders again when that part changes. `part` reads nothing that changes. */
export function usePart<T, P>(source: Cell<T>, part: (value: T) => P): P {
  const [value, setValue] = useState(() => part(source.get()));
  useEffect(() => {
    const read = (): void => setValue(() => part(source.get()));
    // It may have changed between the first rendering and now.
    read();
    return source.subscribe(read);
  }, [source]);
  return value;
}
