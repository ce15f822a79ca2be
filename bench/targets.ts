import type { EngineRow } from './engine';
import { round } from './figures';
import type { KeepUpRow } from './keep-up';
import { atLeast, atMost, type Line, lineOf } from './line';
import type { ReadsRow } from './reads';
import type { RealtimeRow } from './realtime';
import type { ShardsRow } from './shards';
import type { SubmitRow } from './submit';
import type { WayName } from './ways';

/** The text of each suite's rows in the table, and their targets. */

const DEPTH_USUAL = 10_000;
const ENGINE_TARGETS = { insert: 9, cancel: 7, match1: 15 } as const;
const ENGINE_WORDS = { insert: 'rest an order', cancel: 'cancel by id', match1: 'match one maker' } as const;
const FURTHER_FLOORS = 3.5;
const MANY_FLOORS = 3;
const THOUSAND_GONE_MS = 10;
const ORDER_BYTES = 360;
const SIGNED_BYTES = 220;
const GROWTH_MOST = 2;

export function engineLines(rows: readonly EngineRow[]): Line[] {
  const suite = 'engine';
  const options = rows.some(({ depth }) => depth > DEPTH_USUAL) ? '--full' : '';
  const of = (op: EngineRow['op'], depth = DEPTH_USUAL) =>
    rows.find((row) => row.op === op && row.depth === depth);
  const lines: Line[] = [];
  for (const op of ['insert', 'cancel', 'match1'] as const) {
    const row = of(op);
    if (!row) continue;
    lines.push(
      lineOf({
        suite,
        options,
        what: `${ENGINE_WORDS[op]}, 10,000 resting`,
        figure: row.serverMicros,
        unit: 'us of Redis',
        baseline: 'floor (EVALSHA return 1)',
        ratio: row.floors,
        target: atMost(ENGINE_TARGETS[op], 'ratio'),
      }),
    );
  }
  const [one, ten, hundred] = [of('match1'), of('sweep10'), of('sweep100')];
  if (one && ten && hundred) {
    const further = (hundred.floors - one.floors) / 99;
    const short = (ten.floors - one.floors) / 9;
    lines.push(
      lineOf({
        suite,
        options,
        what: 'each further maker of a sweep of 100',
        unit: 'us of Redis',
        figure: round((hundred.serverMicros - one.serverMicros) / 99),
        baseline: 'floor',
        ratio: round(further),
        target: atMost(FURTHER_FLOORS, 'ratio'),
      }),
      lineOf({
        suite,
        options,
        what: 'sweeps are linear: a maker among 100',
        figure: round(further),
        unit: 'floors',
        baseline: 'one among 10',
        ratio: round(further / short),
        target: atMost(1.1, 'ratio'),
      }),
    );
  }
  const [hundredGone, thousandGone] = [of('cancel100'), of('cancel1000')];
  if (hundredGone) {
    lines.push(
      lineOf({
        suite,
        options,
        what: 'an order of a hundred cancelled together',
        unit: 'us of Redis',
        figure: round(hundredGone.serverMicros / 100),
        baseline: 'floor',
        ratio: round(hundredGone.floors / 100),
        target: atMost(MANY_FLOORS, 'ratio'),
      }),
    );
  }
  if (thousandGone) {
    lines.push(
      lineOf({
        suite,
        options,
        what: '1,000 orders cancelled together',
        figure: round(thousandGone.serverMicros / 1_000),
        unit: 'ms of Redis',
        baseline: '',
        target: atMost(THOUSAND_GONE_MS),
      }),
    );
  }
  const deepest = Math.max(...rows.map(({ depth }) => depth));
  const worst = Math.max(
    ...(['insert', 'cancel', 'match1', 'sweep100', 'cancel100'] as const).map(
      (op) => (of(op, deepest)?.floors ?? Number.NaN) / (of(op, 10)?.floors ?? Number.NaN),
    ),
  );
  const memory = of('insert');
  if (deepest > 10) {
    lines.push(
      lineOf({
        suite,
        options,
        what: `the worst of them at ${deepest.toLocaleString('en-US')} resting`,
        figure: round(worst),
        unit: 'times',
        baseline: 'itself at 10 resting',
        ratio: round(worst),
        target: atMost(GROWTH_MOST, 'ratio'),
      }),
    );
  }
  if (memory) {
    const { bytesPerRestingOrder, bytesPerSignedOrder } = memory;
    lines.push(
      lineOf({
        suite,
        options,
        what: 'a resting order',
        figure: bytesPerRestingOrder,
        unit: 'bytes',
        target: atMost(ORDER_BYTES),
      }),
      lineOf({
        suite,
        options,
        what: 'the signed order beside it',
        figure: bytesPerSignedOrder,
        unit: 'bytes',
        target: atMost(SIGNED_BYTES),
      }),
    );
  }
  return lines;
}

const P99_OF_FLOOR = 2;
/** Words of each way in, and what it must reach of the plain stack for each mix, and of the floor. */
const WAYS_IN = {
  single: { words: 'over HTTP', timesPlain: { rest: 14, mixed: 9 }, ofFloor: 1 },
  batch: { words: 'over HTTP, 20 in a request', timesPlain: { rest: 22, mixed: 18 }, ofFloor: 1 },
  socket: { words: 'over sockets', timesPlain: { rest: 18, mixed: 11 }, ofFloor: 1 },
} as const satisfies Record<WayName, object>;

export const submitLines = (rows: readonly SubmitRow[]): Line[] =>
  rows.flatMap(({ what: way, mix, perCpuSecond, timesPlain, ofFloor, p99Ms, p99OfFloor }) => {
    if (way === 'ethers' || way === 'plain' || way === 'floor') return [];
    const { words, ...least } = WAYS_IN[way];
    const what = `${mix === 'rest' ? 'orders' : 'orders, cancels, crossings'} ${words}`;
    const of = { suite: 'submit', what, figure: perCpuSecond, unit: '/CPU-s' };
    return [
      lineOf({
        ...of,
        baseline: 'plain stack',
        ratio: timesPlain,
        target: atLeast(least.timesPlain[mix], 'ratio'),
      }),
      lineOf({
        ...of,
        baseline: 'Express + EVALSHA, unchecked',
        ratio: ofFloor,
        target: atLeast(least.ofFloor, 'ratio'),
      }),
      lineOf({
        ...of,
        what: `${what}: p99 of 16 connections`,
        figure: p99Ms,
        unit: 'ms',
        baseline: 'Express + EVALSHA',
        ratio: p99OfFloor,
        // The answer to a batch is that of twenty orders.
        ...(way === 'batch' ? {} : { target: atMost(P99_OF_FLOOR, 'ratio') }),
      }),
    ];
  });

const READ_PART = 0.4;
const UNCHANGED_PART = 0.5;

export const readsLines = (rows: readonly ReadsRow[]): Line[] =>
  rows.map(({ what, cpuMicros, ratio }) =>
    lineOf({
      suite: 'reads',
      what: `read: ${what}`,
      figure: cpuMicros,
      unit: 'us CPU',
      baseline: 'bare node:http, same bytes',
      ratio,
      target: atLeast(what.includes('304') ? UNCHANGED_PART : READ_PART, 'ratio'),
    }),
  );

const FANOUT_P99_MS = 100;

export const realtimeLines = (rows: readonly RealtimeRow[]): Line[] =>
  rows.flatMap(({ op, sockets, updatesPerSecond, delivered, expected, p99Ms, cpuMicrosPerDelivery }) => {
    const of = { suite: 'realtime' };
    if (op === 'latency') {
      return [lineOf({ ...of, what: 'order to update at another replica, p99', figure: p99Ms, unit: 'ms' })];
    }
    const what = `${sockets.toLocaleString('en-US')} sockets x ${updatesPerSecond} updates/s`;
    return [
      lineOf({ ...of, what: `${what}, p99`, figure: p99Ms, unit: 'ms', target: atMost(FANOUT_P99_MS) }),
      lineOf({
        ...of,
        what: `${what}: delivered`,
        figure: delivered,
        unit: 'messages',
        baseline: 'expected',
        ratio: round(delivered / expected, 4),
        target: atLeast(1, 'ratio'),
      }),
      lineOf({ ...of, what: `${what}: a delivery`, figure: cpuMicrosPerDelivery, unit: 'us CPU' }),
    ];
  });

const SETTLED_PART = 0.95;
const BACKLOG_MAX = 100_000;
const DRAIN_SECONDS = 5;

export function keepUpLines(rows: readonly KeepUpRow[]): Line[] {
  const suite = 'keep-up';
  const http = rows.find(({ op }) => op === 'http');
  const kept = rows.findLast(({ op, keepsUp }) => op === 'engine' && keepsUp);
  const still = rows.find(({ op }) => op === 'standstill');
  if (!http) return [];
  return [
    lineOf({
      suite,
      what: 'settled, as fast as one web process matches',
      figure: http.settledPerSecond,
      unit: 'matches/s',
      baseline: 'matched',
      ratio: round(http.settledPerSecond / http.matchesPerSecond),
      target: atLeast(SETTLED_PART, 'ratio'),
    }),
    lineOf({
      suite,
      what: 'unprocessed outbox meanwhile, at most',
      figure: http.unprocessedMax,
      unit: 'entries',
      baseline: 'where orders are refused',
      ratio: round(http.unprocessedMax / BACKLOG_MAX, 3),
      target: atMost(0.1, 'ratio'),
    }),
    lineOf({
      suite,
      what: 'journal and candles behind, at most',
      unit: 's',
      figure: Math.max(http.journalSecondsMax, http.candlesSecondsMax),
      target: atMost(DRAIN_SECONDS),
    }),
    lineOf({
      suite,
      what: 'all done after the last order',
      figure: http.drainSeconds,
      unit: 's',
      target: atMost(DRAIN_SECONDS),
    }),
    lineOf({
      suite,
      what: 'highest rate that is kept up with',
      figure: kept?.matchesPerSecond ?? Number.NaN,
      unit: 'matches/s',
      baseline: 'over HTTP, one web process',
      ratio: round((kept?.matchesPerSecond ?? Number.NaN) / http.matchesPerSecond),
      target: atLeast(1, 'ratio'),
    }),
    ...(still
      ? [
          lineOf({
            suite,
            what: 'worker stopped: backlog at which orders hear BACKLOG, cancels pass',
            figure: still.refusedWith === 'BACKLOG' && still.cancelled ? still.unprocessedMax : Number.NaN,
            unit: 'entries',
            target: atMost(2 * BACKLOG_MAX),
          }),
          lineOf({
            suite,
            what: 'all of it done when it goes on, in',
            figure: still.drainSeconds,
            unit: 's',
          }),
        ]
      : []),
  ];
}

/** The part of one shard's figure that is left, by what is reserved. */
const PARTS: Readonly<Record<number, number>> = { 60: 0.95, 90: 0.9 };

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
