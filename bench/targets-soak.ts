import { atMost, type Line, lineOf } from './line';
import type { SoakRow } from './soak';

const FLAT_PART = 0.05;
/** The most that Redis may keep of a dead order; of one that expired it keeps nothing. */
const DEAD_ORDER_BYTES: Readonly<Partial<Record<SoakRow['what'], number>>> = {
  'redis, orders cancelled or filled': 12,
  'redis, orders that expired': 0.5,
};

export const soakLines = (rows: readonly SoakRow[]): Line[] =>
  rows.map((row) => {
    const bytes = DEAD_ORDER_BYTES[row.what];
    return bytes === undefined ? ofGrowth(row) : ofDead(row, bytes);
  });

const optionsOf = ({ minutes, withArchive }: SoakRow): string =>
  `--minutes ${minutes}${withArchive ? ' --archive' : ''}`;

function ofGrowth(row: SoakRow): Line {
  const { what, minutes, beginMegabytes, growthMegabytes, growthPart } = row;
  return lineOf({
    suite: 'soak',
    options: optionsOf(row),
    what: `${what}: growth in ${minutes} min`,
    figure: growthMegabytes,
    unit: 'MB',
    baseline: `${beginMegabytes} MB at first`,
    ratio: growthPart,
    target: atMost(FLAT_PART, 'ratio'),
  });
}

const ofDead = (row: SoakRow, bytes: number): Line =>
  lineOf({
    suite: 'soak',
    options: optionsOf(row),
    unit: 'bytes',
    what: `${row.what}: used_memory for each of ${(row.orders ?? 0).toLocaleString('en-US')}`,
    figure: row.bytesPerOrder ?? Number.NaN,
    target: atMost(bytes),
  });
