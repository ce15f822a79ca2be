import type { AbuseRow } from './abuse';
import { atMost, type Line, lineOf } from './line';

/** The limits for one hostile address: a share of a core, and a multiple of a bystander's quiet waiting time. */
const SHARE_MOST = 0.35;
const TIMES_MOST = 5;

export const abuseLines = (rows: readonly AbuseRow[]): Line[] =>
  rows.flatMap(({ attack, connections, webShare, redisShare, p50Ms, p50OverQuiet }) => {
    const of = { suite: 'abuse' };
    const what = `${attack}, ${connections} connections`;
    return [
      lineOf({
        ...{ ...of, what: `${what}: taken of a core`, figure: Math.max(webShare, redisShare), unit: 'cores' },
        target: atMost(SHARE_MOST),
      }),
      lineOf({
        ...{ ...of, what: `${what}: a bystander's p50`, figure: p50Ms, unit: 'ms' },
        ...{ baseline: 'when it is quiet', ratio: p50OverQuiet, target: atMost(TIMES_MOST, 'ratio') },
      }),
    ];
  });
