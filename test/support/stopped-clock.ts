import { paceClock } from '../../src/http/guard/request-pacing';

/**
 * Stops the clock of all points: an address in debt stays in debt, however slow the machine is, until the test moves the
 * clock on. Only for replicas within the test's process.
 */
export interface StoppedClock {
  forward(ms: number): void;
  /** Returns the clock to the real time. */
  release(): void;
}

export function stopClock(): StoppedClock {
  let nowMs = performance.now();
  const spy = jest.spyOn(paceClock, 'nowMs').mockImplementation(() => nowMs);
  return {
    forward: (ms) => {
      nowMs += ms;
    },
    release: () => spy.mockRestore(),
  };
}
