import type { AuditRow } from './audit';
import type { CostRow } from './costs';
import type { EngineRow } from './engine';
import type { ExpiryRow } from './expiry';
import { round } from './figures';
import type { KeepUpRow } from './keep-up';
import { atLeast, atMost, type Line, lineOf } from './line';
import type { PersistenceRow } from './persistence';
import type { ReadsRow } from './reads';
import type { RealtimeRow } from './realtime';
import type { ScaleRow } from './scale';
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

const STEP_MS = 20;
const AUDIT_SECONDS = 15;

export const expiryLines = (rows: readonly ExpiryRow[]): Line[] =>
  rows.flatMap(({ orders, seconds, longestCallMs }) => [
    lineOf({
      suite: 'expiry',
      what: `${orders.toLocaleString('en-US')} orders of one second ended`,
      figure: seconds,
      unit: 's',
    }),
    lineOf({
      suite: 'expiry',
      what: 'longest call of it',
      figure: longestCallMs,
      unit: 'ms of Redis',
      target: atMost(STEP_MS),
    }),
  ]);

export const auditLines = (rows: readonly AuditRow[]): Line[] =>
  rows.flatMap(({ op, orders, seconds, longestCommandMs }) => [
    lineOf({
      suite: 'audit',
      what: `${op}, ${orders.toLocaleString('en-US')} orders`,
      figure: seconds,
      unit: 's',
      target: atMost(AUDIT_SECONDS),
    }),
    lineOf({
      suite: 'audit',
      what: `${op}: longest command`,
      figure: longestCommandMs,
      unit: 'ms of Redis',
      target: atMost(STEP_MS),
    }),
  ]);

export const persistenceLines = (rows: readonly PersistenceRow[]): Line[] =>
  rows
    .filter(({ appendonly }) => appendonly === 'everysec')
    .map(({ opsPerSecond, ratio }) =>
      lineOf({
        suite: 'persistence',
        what: 'orders with appendonly everysec',
        figure: opsPerSecond,
        unit: '/s',
        baseline: 'without',
        ratio,
        target: atLeast(0.65, 'ratio'),
      }),
    );

const P99_OF_FLOOR = 2;
/** Of each way in: its words, what it must reach of the plain stack for each mix, and of the floor. */
const WAYS_IN = {
  single: { words: 'over HTTP', timesPlain: { rest: 15, mixed: 12 }, ofFloor: 1 },
  batch: { words: 'over HTTP, 20 in a request', timesPlain: { rest: 22, mixed: 18 }, ofFloor: 1 },
  socket: { words: 'over sockets', timesPlain: { rest: 18, mixed: 15 }, ofFloor: 1 },
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

const SCALE_PART = 0.9;
/** Of what as many processes of bare Express keep. */
const KEPT_PART = 0.95;

export const scaleLines = (rows: readonly ScaleRow[]): Line[] =>
  rows
    .filter(({ processes }) => processes > 1)
    .flatMap(({ processes, ordersPerWebCpuSecond, ordersPerRedisCpuSecond, ...ratios }) => [
      lineOf({
        suite: 'scale',
        what: `${processes} web processes`,
        figure: ordersPerWebCpuSecond,
        unit: '/CPU-s of web',
        ratio: ratios.webRatio,
        baseline: `one process (bare Express: ${ratios.floorRatio})`,
      }),
      lineOf({
        suite: 'scale',
        what: `${processes} web processes keep`,
        figure: ordersPerWebCpuSecond,
        unit: '/CPU-s of web',
        baseline: 'what as many bare Express keep',
        ratio: ratios.keptRatio,
        target: atLeast(KEPT_PART, 'ratio'),
      }),
      lineOf({
        suite: 'scale',
        what: `${processes} web processes`,
        figure: ordersPerRedisCpuSecond,
        unit: '/CPU-s of Redis',
        baseline: 'one process',
        ratio: ratios.redisRatio,
        target: atLeast(SCALE_PART, 'ratio'),
      }),
    ]);

export const costsLines = (rows: readonly CostRow[]): Line[] =>
  rows.map(({ stage, micros, part }) =>
    lineOf({
      suite: 'costs',
      what: stage === 'all' ? 'an order in all' : `of an order: ${stage}`,
      figure: micros,
      unit: 'us CPU',
      baseline: 'the whole',
      ratio: part,
    }),
  );
