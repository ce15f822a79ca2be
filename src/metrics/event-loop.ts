/** How late this process is: what a request waits for before anything looks at it. */
export interface EventLoop {
  /** Recent lateness of a timer in milliseconds, smoothed: one long pause is not yet more work than can be done. */
  delayMs(): number;
  stop(): void;
}

const TICK_MS = 50;
/** The weight of a tick: a lateness that lasts is visible after a few ticks. */
const WEIGHT = 0.3;

export function watchEventLoop(): EventLoop {
  let expected = performance.now() + TICK_MS;
  let delayMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    delayMs += (Math.max(now - expected, 0) - delayMs) * WEIGHT;
    expected = now + TICK_MS;
  }, TICK_MS);
  timer.unref();
  return { delayMs: () => delayMs, stop: () => clearInterval(timer) };
}
