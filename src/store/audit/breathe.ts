/** How long a process may count without looking at what else it has to do. */
const SLICE_MS = 5;

export type Breathe = () => Promise<void> | undefined;

/** `await breathe()` in a long loop lets everything else in this process go on; mostly it does nothing. */
export function createBreathe(): Breathe {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
