import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import type { ShardCount } from '../src/store/redis/tags';
import { startTestCluster, type TestCluster } from '../test/support/redis';
import { median, round } from './figures';
import { flood } from './flood';
import { requestBytes } from './load';
import { shardsWithoutWorker } from './no-worker';
import { createSigner, type Signer } from './signer';
import { FASTEST, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * The CPU time of an order in a web process of 1, 2, 4 and 8 shards, with a master for each. There are as many web processes, so that
 * each broadcasts for one shard, and one of them gets all orders. It has a processor to itself, and all else shares the other one. There is
 * a market in each shard; an order rests in one of them, and its wallet has enough collateral there. The orders go to one master after
 * another, or to any of them by chance: then those that arrive together leave in one write for each master. All sizes
 * work in turns, and so does Express with one trivial EVALSHA, over the same masters. Two processes of the same program differ by up to a
 * tenth, so there are several of each, one after another.
 */
export interface ShardsWebRow {
  readonly suite: 'shards-web';
  readonly shards: number;
  readonly connections: number;
  readonly masters: Masters;
  readonly orders: number;
  readonly webMicros: number;
  readonly floorMicros: number;
  /** One shard's CPU time of an order divided by this, the median of the generations; and their least and most. */
  readonly ofOne: number;
  readonly least: number;
  readonly most: number;
  /** The same of Express alone. */
  readonly floorOfOne: number;
}

export type Masters = 'in turn' | 'by chance';

const COUNTS: readonly ShardCount[] = [1, 2, 4, 8];
/** With one connection each command leaves alone, however many masters there are. */
const LOADS: readonly { readonly connections: number; readonly masters: Masters }[] = [
  { connections: 1, masters: 'by chance' },
  { connections: 16, masters: 'in turn' },
  { connections: 16, masters: 'by chance' },
  { connections: 128, masters: 'in turn' },
  { connections: 128, masters: 'by chance' },
];
const ORDERS = 4_000;
/** Of orders that go to one master before the next one has its turn. */
const TURN = 500;
const ROUNDS = 3;
/** Of processes. */
const GENERATIONS = 5;
/** Until V8 has compiled the hot code, and each wallet has collateral in each shard. */
const WARM_UP = 12_000;
const WARM_UP_CONNECTIONS = 16;
const [OWN_CPU, OTHER_CPU] = ['0', '1'];

interface Exchange {
  readonly count: ShardCount;
  readonly cluster: TestCluster;
  /** The first one gets the orders. */
  readonly webs: readonly Side[];
  readonly floor: Side;
  readonly signers: readonly Signer[];
}

interface Cost {
  readonly web: number;
  readonly floor: number;
}

/** Of each load and each number of shards, in the order of LOADS and COUNTS. */
type Costs = readonly (readonly Cost[])[];

export async function benchShardsWeb(deadlineMs: number, emit: (row: ShardsWebRow) => void): Promise<void> {
  const generations: Costs[] = [];
  pin(process.pid, OTHER_CPU);
  try {
    while (generations.length < GENERATIONS && (generations.length === 0 || Date.now() < deadlineMs))
      generations.push(await generation());
  } finally {
    pin(process.pid, `0-${cpus().length - 1}`);
  }
  for (const [l, load] of LOADS.entries()) {
    for (const [c, shards] of COUNTS.entries()) {
      const costs = (side: keyof Cost, of = c): number[] =>
        generations.map((one) => one[l]?.[of]?.[side] ?? Number.NaN);
      const ofOne = (side: keyof Cost): number[] =>
        costs(side).map((cost, n) => round((costs(side, 0)[n] ?? Number.NaN) / cost, 3));
      emit({
        suite: 'shards-web',
        shards,
        ...load,
        orders: generations.length * ROUNDS * ORDERS,
        webMicros: round(median(costs('web')), 1),
        floorMicros: round(median(costs('floor')), 1),
        ofOne: median(ofOne('web')),
        floorOfOne: median(ofOne('floor')),
        least: Math.min(...ofOne('web')),
        most: Math.max(...ofOne('web')),
      });
    }
  }
}

/** New processes of each size: the medians of the rounds. */
async function generation(): Promise<Costs> {
  const exchanges: Exchange[] = [];
  try {
    for (const count of COUNTS) exchanges.push(await startExchange(count));
    for (const exchange of exchanges)
      await run(exchange, WARM_UP, { connections: WARM_UP_CONNECTIONS, masters: 'by chance' });
    const costs: Cost[][] = [];
    for (const load of LOADS) {
      const taken: Cost[][] = exchanges.map(() => []);
      for (let n = 0; n < ROUNDS; n++)
        for (const [i, exchange] of exchanges.entries()) taken[i]?.push(await run(exchange, ORDERS, load));
      const middle = (side: keyof Cost, of: readonly Cost[]): number => median(of.map((one) => one[side]));
      costs.push(taken.map((of) => ({ web: middle('web', of), floor: middle('floor', of) })));
    }
    return costs;
  } finally {
    stopSides(exchanges.flatMap(({ webs, floor }) => [...webs, floor]));
    for (const { cluster } of exchanges) await cluster.stop();
  }
}

async function startExchange(count: ShardCount): Promise<Exchange> {
  const cluster = await startTestCluster(count);
  const web = () => startWeb(FASTEST, cluster.url, undefined, undefined, { SHARDS: String(count) });
  const first = await web();
  const others = await Promise.all(Array.from({ length: count - 1 }, web));
  const floor = await startSide('plain.ts', ['floor', cluster.url, '{}', '']);
  for (const side of [first, floor]) pin(side.child.pid ?? 0, OWN_CPU);
  const signers: Signer[] = [];
  for (let shard = 0; shard < count; shard++) signers.push(await createSigner(first, undefined, { shard }));
  await shardsWithoutWorker(cluster.url, count);
  return { count, cluster, webs: [first, ...others], floor, signers };
}

/** CPU microseconds for one order: of the web process that gets them, then of Express alone. */
async function run(
  { webs, floor, signers }: Exchange,
  orders: number,
  { connections, masters }: (typeof LOADS)[0],
): Promise<Cost> {
  const shardOf = (n: number): number =>
    masters === 'in turn' ? Math.floor(n / TURN) : Math.floor(Math.random() * signers.length);
  const signed = Array.from({ length: orders }, (_, n) =>
    (signers[shardOf(n) % signers.length] as Signer).sign(),
  );
  const ours = signed.map(({ path, body }) => requestBytes(path, body));
  const theirs = signed.map(({ body }) => requestBytes('/orders', body));
  return {
    web: (await flood(webs[0] as Side, ours, connections)) / orders,
    floor: (await flood(floor, theirs, connections)) / orders,
  };
}

/** With all threads of the process, and all processes that it starts later (taskset is part of util-linux). */
function pin(pid: number, processors: string): void {
  execFileSync('taskset', ['-acp', processors, String(pid)], { stdio: 'ignore' });
}
