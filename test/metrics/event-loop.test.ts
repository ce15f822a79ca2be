import { watchEventLoop } from '../../src/metrics/event-loop';
import { sleep, until } from '../support/waiting';

/** Blocks this process completely, as SIGSTOP does. */
const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** A request that waited through a pause is read within a second; less than that. */
const KEPT_MS = 900;

test('a request that is read after a pause counts from the beginning of the pause, also half a second later', async () => {
  const loop = watchEventLoop();
  try {
    await sleep(120);
    for (;;) {
      const before = performance.now();
      standStill(800);
      const endedAt = performance.now();
      // Before any timer has run.
      expect(loop.arrivedAt()).toBeLessThanOrEqual(before);
      await sleep(500);
      const later = loop.arrivedAt();
      // A busy machine may look too late, and does it again.
      if (performance.now() - endedAt > KEPT_MS) continue;
      expect(later).toBeLessThanOrEqual(before);
      break;
    }
  } finally {
    loop.stop();
  }
});

test('a request that is read long after a pause counts from now', async () => {
  const loop = watchEventLoop();
  try {
    await sleep(120);
    standStill(600);
    const from = performance.now();
    await until('a request counts from now', () => {
      const now = performance.now();
      return loop.arrivedAt() >= now;
    });
    expect(performance.now() - from).toBeGreaterThan(700);
  } finally {
    loop.stop();
  }
});
