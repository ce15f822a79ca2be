import type { AbuseRow } from './abuse';
import { atMost, type Line, lineOf } from './line';

/** The limits for one hostile address: a share of a core, a multiple of a bystander's quiet waiting time, growth of Redis. */
const SHARE_MOST = 0.35;
const TIMES_MOST = 5;
const GROWTH_MOST = 100;

/** The worst figure of each attack, over all numbers of connections; the details have all of them. */
export function abuseLines(rows: readonly AbuseRow[]): Line[] {
  const attacks = [...new Set(rows.map(({ attack }) => attack))];
  return attacks.flatMap((attack) =>
    linesOf(
      attack,
      rows.filter((row) => row.attack === attack),
    ),
  );
}

function linesOf(attack: string, rows: readonly AbuseRow[]): Line[] {
  const worst = (figure: (row: AbuseRow) => number): AbuseRow =>
    rows.reduce((most, row) => (figure(row) > figure(most) ? row : most));
  const share = ({ webShare, redisShare }: AbuseRow): number => Math.max(webShare, redisShare);
  const [dearest, slowest] = [worst(share), worst(({ p50OverQuiet }) => p50OverQuiet)];
  const growing = worst(({ redisBytesPerSecond }) => redisBytesPerSecond);
  const of = { suite: 'abuse' };
  const at = ({ connections }: AbuseRow): string => `${connections} connections`;
  return [
    lineOf({
      ...of,
      what: `${attack}, ${at(dearest)}: taken of a core`,
      figure: share(dearest),
      unit: 'cores',
      target: atMost(SHARE_MOST),
    }),
    lineOf({
      ...of,
      what: `${attack}, ${at(slowest)}: a bystander's p50`,
      figure: slowest.p50Ms,
      unit: 'ms',
      baseline: 'when it is quiet',
      ratio: slowest.p50OverQuiet,
      target: atMost(TIMES_MOST, 'ratio'),
    }),
    lineOf({
      ...of,
      what: `${attack}, ${at(growing)}: growth of Redis after the allowance`,
      unit: 'kB/s',
      figure: Math.round(growing.redisBytesPerSecond / 1_000),
      target: atMost(GROWTH_MOST),
    }),
  ];
}
