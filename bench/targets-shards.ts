import type { GrowRow } from './grow';
import { atLeast, atMost, type Line, lineOf } from './line';
import type { PullsRow } from './pulls';
import type { ShardAwayRow } from './shard-away';
import type { ShardsRow } from './shards';
import type { ShardsWebRow } from './shards-web';

/** The part of one shard's figure that is left, by what is reserved. */
const PARTS: Readonly<Record<number, number>> = { 60: 0.95, 90: 0.9 };
const PULLED_TIMES = 3;
const WEB_PART = 0.95;
const HALTED_MS_MAX = 60_000;
const AWAY_PART = 0.9;
const AWAY_MS_MAX = 2_000;

export const shardsLines = (rows: readonly ShardsRow[]): Line[] =>
  rows.flatMap((row) => {
    const what = `${row.shards} shards, ${row.reservedPercent} % reserved`;
    const part = PARTS[row.reservedPercent];
    const cost = lineOf({
      suite: 'shards',
      what: `${what}: an order costs Redis`,
      figure: row.redisMicros,
      unit: 'us CPU',
      baseline: `one shard with the same trade; ${row.ofAlike} of one as full as each of these; ${row.ofOne} of one with the wallets of one`,
      ratio: row.ofSame,
      ...(part !== undefined && row.shards > 1 && { target: atLeast(part, 'ratio') }),
    });
    if (row.shards === 1) return [cost];
    return [
      cost,
      lineOf({
        suite: 'shards',
        what: `${what}: orders that pull`,
        figure: 100 * row.pulledPart,
        unit: '%',
        baseline: `${row.transfersPerOrder} transfers an order`,
      }),
      lineOf({
        suite: 'shards',
        what: `${what}: an order that pulls, p99`,
        figure: row.pulledP99Ms,
        unit: 'ms',
        baseline: `local orders (${row.localP99Ms} ms)`,
        ratio: row.pulledP99Ms / row.localP99Ms,
      }),
    ];
  });

export const pullsLines = (rows: readonly PullsRow[]): Line[] =>
  rows.flatMap(({ shards, ...row }) => {
    const of = (part: 'p50' | 'p99', pulled: number, local: number) => ({
      suite: 'pulls',
      what: `${shards} shards: an order that pulls, ${part}`,
      figure: pulled,
      unit: 'ms',
      baseline: `local orders (${local} ms)`,
      ratio: pulled / local,
    });
    return [
      lineOf(of('p50', row.pulledP50Ms, row.localP50Ms)),
      lineOf({
        ...of('p99', row.pulledP99Ms, row.localP99Ms),
        target: atMost(PULLED_TIMES, 'ratio'),
      }),
    ];
  });

export const shardsWebLines = (rows: readonly ShardsWebRow[]): Line[] =>
  rows.map(({ shards, connections, masters, webMicros, ofOne, least, most, floorOfOne }) =>
    lineOf({
      suite: 'shards-web',
      what: `${shards} shards, ${connections} connections, masters ${masters}: an order costs web`,
      figure: webMicros,
      unit: 'us CPU',
      baseline: `one shard, as orders a second of CPU (${least} to ${most}); with Express alone ${floorOfOne}`,
      ratio: ofOne,
      ...(shards > 1 && masters === 'in turn' && { target: atLeast(WEB_PART, 'ratio') }),
    }),
  );

export const shardAwayLines = (rows: readonly ShardAwayRow[]): Line[] =>
  rows.flatMap(({ when, perSecond, ofBefore, orders, refused, slowestMs }) => [
    lineOf({
      suite: 'shard-away',
      what: `${when}: orders of the other shards`,
      figure: perSecond,
      unit: '/s',
      baseline: `before; ${refused} of ${orders} refused`,
      ratio: ofBefore,
      ...(when !== 'before' && { target: atLeast(AWAY_PART, 'ratio') }),
    }),
    lineOf({
      suite: 'shard-away',
      what: `${when}: the slowest answer`,
      figure: slowestMs,
      unit: 'ms',
      target: atMost(AWAY_MS_MAX, 'figure'),
    }),
  ]);

export const growLines = (rows: readonly GrowRow[]): Line[] =>
  rows.map(({ orders, wallets, moved, haltedMs }) =>
    lineOf({
      suite: 'grow',
      what: `${orders} orders of ${wallets} wallets grow to four shards: HALTED`,
      figure: haltedMs,
      unit: 'ms',
      baseline: `${moved} wallets have a new home`,
      target: atMost(HALTED_MS_MAX, 'figure'),
      options: '--full',
    }),
  );
