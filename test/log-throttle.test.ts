import { createLogThrottle } from '../src/log';

/** A log that remembers, and a clock that the test sets. */
function createLog() {
  const written: [unknown, string][] = [];
  const at = { ms: 0 };
  const log = { warn: (facts: unknown, what: string) => void written.push([facts, what]) };
  return { written, at, warn: createLogThrottle(log as never, () => at.ms) };
}

test('a message that repeats is written at once, and then every ten seconds with how often it was left out', () => {
  const { written, at, warn } = createLog();
  for (at.ms = 0; at.ms < 20_000; at.ms += 100) warn({ err: 'closed' }, 'redis');
  expect(written).toEqual([
    [{ err: 'closed' }, 'redis'],
    [{ err: 'closed', leftOut: 99 }, 'redis'],
  ]);
  at.ms = 60_000;
  warn({ err: 'closed' }, 'redis');
  warn({ err: 'closed' }, 'redis');
  expect(written.at(-1)).toEqual([{ err: 'closed', leftOut: 99 }, 'redis']);
  expect(written).toHaveLength(3);
});

test('messages that differ in anything are written each', () => {
  const { written, warn } = createLog();
  warn({ err: 'closed' }, 'redis');
  warn({ err: 'closed' }, 'chore');
  warn({ err: 'closed', chore: 'relay' }, 'chore');
  warn({ err: 'late' }, 'redis');
  expect(written).toHaveLength(4);
});

test('a hundred different messages are remembered, and no more', () => {
  const { written, warn } = createLog();
  for (let i = 0; i < 100; i++) warn({ err: `message ${i}` }, 'redis');
  warn({ err: 'message 0' }, 'redis');
  expect(written).toHaveLength(100);
  warn({ err: 'message 100' }, 'redis');
  warn({ err: 'message 0' }, 'redis');
  expect(written).toHaveLength(102);
});
