import { quantile, slope } from '../../bench/figures';
import { atLeast, atMost, lineOf, tableOf } from '../../bench/line';
import { answerIn } from '../../bench/load';
import { keepsUp, type Pulse } from '../../bench/pulse';
import { keyGroup } from '../../bench/redis-memory';
import { type CpuProfile, timesOf } from '../../bench/stages';

/** The figures of a benchmark are only as good as its arithmetic. */

test('a target is met by the figure or the ratio that it names, and never by a figure that could not be measured', () => {
  const of = { suite: 'reads', what: 'x', figure: 100, unit: 'us', ratio: 0.4 };
  expect(lineOf({ ...of, target: atLeast(0.4, 'ratio') }).met).toBe(true);
  expect(lineOf({ ...of, target: atLeast(0.41, 'ratio') }).met).toBe(false);
  expect(lineOf({ ...of, target: atMost(99) }).met).toBe(false);
  expect(lineOf({ ...of, ratio: null, target: atMost(1, 'ratio') }).met).toBe(false);
  expect(lineOf({ ...of, figure: Number.NaN, target: atMost(99) }).met).toBe(false);
  expect(lineOf(of).met).toBeNull();
  const table = tableOf([lineOf({ ...of, target: atMost(99), options: '--full' })]);
  expect(table).toContain('<= 99');
  expect(table).toContain('NO');
  expect(table).toContain('npm run bench -- reads --full');
});

test('slopes and quantiles are computed correctly', () => {
  expect(slope([1, 2, 3, 4].map((x) => ({ x, y: 5 - 2 * x })))).toBe(-2);
  expect(slope([{ x: 1, y: 1 }])).toBeNaN();
  expect(slope(Array(3).fill({ x: 1, y: 1 }))).toBeNaN();
  expect(quantile([5, 1, 3], 0.5)).toBe(3);
  expect(quantile([5, 1, 3], 1)).toBe(5);
});

const pulse = (second: number, change: Partial<Pulse> = {}): Pulse => ({
  atMs: second * 1_000,
  length: 0,
  unprocessed: 50,
  matches: second * 500,
  settled: second * 500,
  journalSeconds: second % 2,
  candlesSeconds: second % 3,
  ...change,
});
const seconds = Array.from({ length: 13 }, (_, second) => second);

test('a reader keeps up when it does not fall further behind from second to second', () => {
  const kept = seconds.map((second) => pulse(second));
  expect(keepsUp(kept, 1_000)).toBe(true);
  const late: ((second: number) => Partial<Pulse>)[] = [
    (second) => ({ unprocessed: 100 * second }),
    (second) => ({ settled: 400 * second }),
    (second) => ({ journalSeconds: second / 2 }),
    (second) => ({ candlesSeconds: second / 2 }),
  ];
  for (const change of late) {
    expect(
      keepsUp(
        seconds.map((second) => pulse(second, change(second))),
        1_000,
      ),
    ).toBe(false);
  }
  expect(keepsUp(kept.slice(0, 1), 1_000)).toBe(false);
});

test('an answer is complete only when all of its bytes have arrived', () => {
  const whole = Buffer.from('HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nX: 1\r\n\r\n{"a"');
  for (let bytes = 0; bytes < whole.length; bytes++) expect(answerIn(whole.subarray(0, bytes))).toBeNull();
  expect(answerIn(whole)?.status).toBe(503);
  expect(answerIn(whole)?.body()).toBe('{"a"');
  // One to HEAD has no body.
  expect(answerIn(whole.subarray(0, -4), true)?.status).toBe(503);
  expect(answerIn(whole.subarray(0, -5), true)).toBeNull();
});

test('a profile counts by the caller, between two moments, without idle time', () => {
  const frame = (functionName: string, url = ''): { functionName: string; url: string } => ({
    functionName,
    url,
  });
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: frame('(root)'), children: [2, 3, 7] },
      { id: 2, callFrame: frame('(idle)') },
      { id: 3, callFrame: frame('check', '/x/src/http/orders/submit.ts'), children: [4, 5] },
      { id: 4, callFrame: frame('ecdsaRecover') },
      { id: 5, callFrame: frame('write', '/x/node_modules/ioredis/built/Redis.js'), children: [6] },
      { id: 6, callFrame: frame('writev', 'node:net') },
      { id: 7, callFrame: frame('(garbage collector)') },
    ],
    startTime: 1_000,
    samples: [4, 2, 3, 4, 6, 7],
    timeDeltas: [10, 10, 10, 10, 10, 10],
  };
  const { times } = timesOf(profile, 1_020, 1_060);
  const counted = Object.fromEntries([...times].filter(([, micros]) => micros > 0));
  expect(counted).toEqual({
    'terms, ticks, amounts': 10,
    'recover the signer': 10,
    'Redis client: write, parse, wait': 10,
    'garbage collection': 10,
  });
});

test('records that Redis keeps permanently are separated from temporary keys', () => {
  const records = [
    '{x0}:o',
    '{x0}:u:\u0000\u00ff',
    '{x0}:m:abcdefgh',
    '{x0}:m:abcdefgh:t',
    '{x0}:m:abcdefgh:g\u0000\n\u0011',
    '{x0}:fo',
    '{x0}:ac:x',
    '{x0}:st',
  ];
  for (const name of records) expect([name, keyGroup(name)]).toEqual([name, 'records']);
  for (const name of ['{x0}:m:abcdefgh:u', '{jobs}:settlement:1', '{s:1}', '{x0}:lease', '{x0}:readers'])
    expect([name, keyGroup(name)]).toEqual([name, 'rest']);
  expect(keyGroup('{x0}:out')).toBe('outbox');
});
