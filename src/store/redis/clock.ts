/**
 * The clock of Redis as this process knows it: a monotonic clock, and the offset of Redis from it. Scripts decide
 * everything that must be true at one moment. This clock serves everything that only needs to be close; the machine's own
 * clock is not used.
 */
export interface Clock {
  /** Milliseconds since the epoch; throws before the first measurement. */
  now(): number;
  /** Notes the time in a reply of Redis to a command that was sent at `askedAt`, a moment of `performance.now()`. */
  observe(redisMs: number, askedAt: number): void;
}

export interface MeasuredClock extends Clock {
  /** Asks Redis a few times; rejects when Redis does not respond. */
  measure(): Promise<void>;
  /** Keeps asking, once a second. */
  start(): void;
  stop(): void;
}

interface Measurement {
  /** The difference to add to `performance.now()`. */
  readonly offsetMs: number;
  /** The largest error of the offset: Redis may have read the time at any moment of the round trip. */
  readonly errorMs: number;
  readonly at: number;
}

const EVERY_MS = 1_000;
const TRIES = 3;
/** Scripts return whole milliseconds. */
const RESOLUTION_MS = 1;
/** Two clocks of which one is being slewed drift apart by less than this in each millisecond. */
const DRIFT = 0.0005;

/** `askRedis` resolves with the time of the Redis that holds the exchange's book, in milliseconds. */
export function createClock(askRedis: () => Promise<number>): MeasuredClock {
  let kept: Measurement | null = null;
  let timer: NodeJS.Timeout | undefined;

  function observe(redisMs: number, askedAt: number): void {
    const at = performance.now();
    const offsetMs = redisMs + RESOLUTION_MS / 2 - (askedAt + at) / 2;
    const errorMs = (at - askedAt + RESOLUTION_MS) / 2;
    if (kept !== null) {
      const keptErrorMs = kept.errorMs + (at - kept.at) * DRIFT;
      // The two contradict each other: the clock of Redis was set, or another Redis responds.
      const wasSet = Math.abs(offsetMs - kept.offsetMs) > errorMs + keptErrorMs;
      if (!wasSet && errorMs > keptErrorMs) return;
    }
    kept = { offsetMs, errorMs, at };
  }

  async function ask(): Promise<void> {
    const askedAt = performance.now();
    observe(await askRedis(), askedAt);
  }

  return {
    now() {
      if (kept === null) throw new Error('the time of Redis is not known yet');
      return performance.now() + kept.offsetMs;
    },
    observe,
    async measure() {
      for (let i = 0; i < TRIES; i++) await ask();
    },
    start() {
      // While Redis is away, the last known clock continues.
      timer = setInterval(() => void ask().catch(() => undefined), EVERY_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
