/** Stops work with something that keeps failing: for a while nothing is tried, then a single try decides. */
export interface Breaker {
  /** Milliseconds until the next try; 0 to begin one now, whose end the caller reports. */
  waitMs(): number;
  succeed(): void;
  fail(): void;
}

interface BreakerOptions {
  /** Failures in a row after which it opens. */
  readonly failuresMax: number;
  readonly restMs: number;
  readonly onOpen: () => void;
}

export function createBreaker({ failuresMax, restMs, onOpen }: BreakerOptions): Breaker {
  let failures = 0;
  let untilMs = 0;
  return {
    waitMs() {
      if (failures < failuresMax) return 0;
      const left = untilMs - performance.now();
      // The others wait as long again for the try that begins now, unless it ends earlier.
      if (left <= 0) untilMs = performance.now() + restMs;
      return Math.max(0, left);
    },
    succeed() {
      failures = 0;
    },
    fail() {
      failures++;
      untilMs = performance.now() + restMs;
      if (failures === failuresMax) onOpen();
    },
  };
}
