/** The longest time that a process may count before it does its other work. */
const SLICE_MS = 5;

export type EventLoopYield = () => Promise<void> | undefined;

/** `await yieldToEventLoop()` in a long loop lets the other work of this process continue; mostly it does nothing. */
export function createEventLoopYield(): EventLoopYield {
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
