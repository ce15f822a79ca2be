/** How late this process is: what a request waits for before anything looks at it. */
export interface EventLoop {
  /** Recent lateness of a timer in milliseconds; it falls within a second when the load is gone. */
  delayMs(): number;
  stop(): void;
}

const TICK_MS = 50;
/** What is left of an old lateness after one tick. */
const KEPT = 0.85;

export function watchEventLoop(): EventLoop {
  let expected = performance.now() + TICK_MS;
  let delayMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    delayMs = Math.max(now - expected, delayMs * KEPT, 0);
    expected = now + TICK_MS;
  }, TICK_MS);
  timer.unref();
  return { delayMs: () => delayMs, stop: () => clearInterval(timer) };
}
