import { watchEventLoop } from '../../src/metrics/event-loop';
import { sleep, until } from '../support/waiting';

/** Blocks this process completely, as SIGSTOP does. */
const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a request that is read after a pause counts from the beginning of the pause, also half a second later', async () => {
  const loop = watchEventLoop();
  try {
    await sleep(120);
    const before = performance.now();
    standStill(800);
    // Before any timer has run.
    expect(loop.arrivedAt()).toBeLessThanOrEqual(before);
    await sleep(500);
    expect(loop.arrivedAt()).toBeLessThanOrEqual(before);
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
