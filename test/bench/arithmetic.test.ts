import { quantile, slope } from '../../bench/figures';
import { atLeast, atMost, lineOf, tableOf } from '../../bench/line';
import { answerIn } from '../../bench/load';
import { keepsUp, type Pulse } from '../../bench/pulse';

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
