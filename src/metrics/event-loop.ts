/** Measures the lateness of this process: the time that a request waits before any code sees it. */
export interface EventLoop {
  /** Recent lateness of a timer in milliseconds, smoothed, because one long pause does not mean overload. */
  delayMs(): number;
  /**
   * The earliest moment, of `performance.now()`, at which a request that is read now may have reached this process. Requests
   * that arrive while the process is blocked wait in the system's buffers, and are read soon after it continues.
   */
  arrivedAt(): number;
  stop(): void;
}

const TICK_MS = 50;
/** The weight of a tick: a lateness that lasts is visible after a few ticks. */
const WEIGHT = 0.3;
/** A shorter pause takes too little of the time in which an order may be booked to matter. */
const PAUSE_MIN_MS = 500;
/** A request that waited through a pause is read within this time. */
const PAUSE_KEPT_MS = 1_000;

export function watchEventLoop(): EventLoop {
  let tickedAt = performance.now();
  let delayMs = 0;
  let pause = { from: 0, until: Number.NEGATIVE_INFINITY };

  /** Requests call it too, because after a pause they are read before the timer runs. */
  function look(now: number): void {
    if (now - tickedAt >= PAUSE_MIN_MS) pause = { from: tickedAt, until: now };
  }

  const timer = setInterval(() => {
    const now = performance.now();
    look(now);
    delayMs += (Math.max(now - tickedAt - TICK_MS, 0) - delayMs) * WEIGHT;
    tickedAt = now;
  }, TICK_MS);
  timer.unref();
  return {
    delayMs: () => delayMs,
    arrivedAt() {
      const now = performance.now();
      look(now);
      return now - pause.until < PAUSE_KEPT_MS ? pause.from : now;
    },
    stop: () => clearInterval(timer),
  };
}
