import type { ArchiveRow } from './archive';
import { atLeast, atMost, type Line, lineOf } from './line';

const PER_SECOND = 10_000;
const LONGEST_CALL_MS = 5;
const TRACE_BYTES = 12;
/** Half a byte for each order is within what the connections of the benchmark take. */
const NOTHING_BYTES = 0.5;
const INSERT_PART = 1.15;

const suite = 'archive';

export const archiveLines = (rows: readonly ArchiveRow[]): Line[] => rows.flatMap(linesOf);

function linesOf(row: ArchiveRow): Line[] {
  if (row.op === 'drain') {
    return [
      lineOf({
        suite,
        what: 'orders that traded, archived and forgotten with all that follows',
        figure: row.ordersPerSecond,
        unit: 'orders/s',
        target: atLeast(PER_SECOND),
      }),
      lineOf({
        suite,
        what: `longest call that forgets (${row.longestScript || 'none above the threshold'})`,
        figure: row.longestCallMs,
        unit: 'ms',
        target: atMost(LONGEST_CALL_MS),
      }),
    ];
  }
  if (row.op === 'memory') {
    const bound = row.isRefused ? NOTHING_BYTES : TRACE_BYTES;
    return [
      lineOf({
        suite,
        what: `Redis keeps of ${row.of}`,
        figure: row.bytesPerOrder,
        unit: 'bytes',
        target: atMost(bound),
      }),
    ];
  }
  return [
    lineOf({
      suite,
      what: `insert in a market with ${row.traces.toLocaleString('en-US')} traces`,
      figure: row.micros,
      unit: 'us',
      baseline: 'a market without',
      ratio: row.ratio,
      target: atMost(INSERT_PART, 'ratio'),
    }),
  ];
}
