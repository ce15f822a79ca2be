import { atMost, type Line, lineOf } from './line';
import type { SoakRow } from './soak';

const FLAT_PART = 0.05;
const DEAD_ORDER_BYTES = 12;

export const soakLines = (rows: readonly SoakRow[]): Line[] =>
  rows.map((row) => (row.what === 'redis, all of it' ? ofDead(row) : ofGrowth(row)));

const ofGrowth = ({ what, minutes, beginMegabytes, growthMegabytes, growthPart }: SoakRow): Line =>
  lineOf({
    ...{ suite: 'soak', options: `--minutes ${minutes}`, what: `${what}: growth in ${minutes} min` },
    ...{ figure: growthMegabytes, unit: 'MB', baseline: `${beginMegabytes} MB at first`, ratio: growthPart },
    target: atMost(FLAT_PART, 'ratio'),
  });

const ofDead = ({ minutes, orders, bytesPerOrder }: SoakRow): Line =>
  lineOf({
    ...{ suite: 'soak', options: `--minutes ${minutes} --archive`, unit: 'bytes' },
    what: `Redis (used_memory), for each dead order (${(orders ?? 0).toLocaleString('en-US')} in all)`,
    ...{ figure: bytesPerOrder ?? Number.NaN, target: atMost(DEAD_ORDER_BYTES) },
  });
