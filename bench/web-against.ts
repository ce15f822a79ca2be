import path from 'node:path';
import { Redis } from 'ioredis';
import { type RunningRedis, startRedis } from '../src/local/redis';
import { median, round } from './figures';
import { flood } from './flood';
import { atMost, type Line, lineOf } from './line';
import { requestBytes } from './load';
import { withoutWorker } from './no-worker';
import { createSigner, type Signer } from './signer';
import { type Size, sizes } from './size';
import { type Side, startWebOf, stopSides } from './web-process';

/**
 * The CPU time of an order in a web process of this tree and in one of another tree, such as a worktree of an earlier commit, each on
 * a Redis of its own with one shard. Orders rest; both trees take short turns. Two processes of the same program differ by some per
 * cent, so there are several of each, one after another, and this tree stands beside itself as well.
 */
export interface WebAgainstRow {
  readonly suite: 'web-against';
  readonly beside: 'the other tree' | 'itself';
  readonly orders: number;
  readonly webMicros: number;
  /** This tree's CPU time of an order divided by that: the median of the generations, the least and the most of them. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
}

/** Compares processes: each has the median of its turns. */
const GENERATIONS = sizes(1, 9);
const TURNS = sizes(2, 24);
const ORDERS_OF_TURN = 500;
/** Until V8 has compiled the hot code. */
const WARM_UP = sizes(500, 10_000);
const CONNECTIONS = 16;
const RATIO_MOST = 1.01;
const OWN_TREE = path.join(__dirname, '..');

interface Exchange {
  readonly server: RunningRedis;
  /** The first one broadcasts, and the second one gets the orders. */
  readonly sides: readonly [Side, Side];
  readonly signer: Signer;
}

export async function benchWebAgainst(
  against: string | null,
  size: Size,
  deadlineMs: number,
  emit: (row: WebAgainstRow) => void,
): Promise<void> {
  if (against === null) {
    process.stderr.write('web-against: left out; it needs --against FOLDER\n');
    return;
  }
  const trees = [OWN_TREE, path.resolve(against), OWN_TREE];
  const taken: number[][] = [];
  for (let n = 0; n < GENERATIONS[size] && Date.now() < deadlineMs; n++)
    taken.push(await generation(trees, size));
  const ratiosTo = (i: number): number[] =>
    taken.map((micros) => (micros[0] ?? Number.NaN) / (micros[i] ?? 1));
  for (const [i, beside] of [
    [1, 'the other tree'],
    [2, 'itself'],
  ] as const) {
    const ratios = ratiosTo(i);
    emit({
      suite: 'web-against',
      beside,
      orders: taken.length * TURNS[size] * ORDERS_OF_TURN,
      webMicros: round(median(taken.map(([own = Number.NaN]) => own)), 1),
      ratio: round(median(ratios), 3),
      least: round(Math.min(...ratios), 3),
      most: round(Math.max(...ratios), 3),
    });
  }
}

/** The CPU microseconds of an order in a new process of each tree. */
async function generation(trees: readonly string[], size: Size): Promise<number[]> {
  const exchanges: Exchange[] = [];
  try {
    for (const tree of trees) exchanges.push(await startExchange(tree));
    for (const exchange of exchanges) await run(exchange, WARM_UP[size]);
    const micros: number[][] = exchanges.map(() => []);
    for (let turn = 0; turn < TURNS[size]; turn++) {
      const order = [...exchanges.keys()];
      if (turn % 2 === 1) order.reverse();
      for (const i of order) micros[i]?.push(await run(exchanges[i] as Exchange, ORDERS_OF_TURN));
    }
    return micros.map(median);
  } finally {
    stopSides(exchanges.flatMap(({ sides }) => sides));
    for (const { server } of exchanges) await server.stop();
  }
}

async function startExchange(tree: string): Promise<Exchange> {
  const server = await startRedis();
  const first = await startWebOf(tree, server.url);
  const redis = new Redis(server.url);
  try {
    await withoutWorker(redis);
  } finally {
    redis.disconnect();
  }
  return {
    server,
    signer: await createSigner(first),
    sides: [first, await startWebOf(tree, server.url)],
  };
}

async function run({ sides: [, side], signer }: Exchange, orders: number): Promise<number> {
  const requests = Array.from({ length: orders }, () => signer.sign()).map(({ path, body }) =>
    requestBytes(path, body),
  );
  return (await flood(side, requests, CONNECTIONS)) / orders;
}

export const webAgainstLines = (rows: readonly WebAgainstRow[]): Line[] =>
  rows.map(({ beside, webMicros, ratio, least, most }) =>
    lineOf({
      suite: 'web-against',
      what: 'an order costs web',
      figure: webMicros,
      unit: 'us CPU',
      baseline: `${beside}; ${least} to ${most}`,
      ratio,
      options: '--against FOLDER',
      ...(beside !== 'itself' && { target: atMost(RATIO_MOST, 'ratio') }),
    }),
  );
