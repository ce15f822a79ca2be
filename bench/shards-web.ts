import { connect, disconnect, ready } from '../src/store/redis/connection';
import { shardKeys } from '../src/store/redis/keys';
import type { ShardCount } from '../src/store/redis/tags';
import { startTestCluster, type TestCluster } from '../test/support/redis';
import { median, round } from './figures';
import { openLoad, requestBytes } from './load';
import { withoutWorker } from './no-worker';
import { createSigner, type Signer } from './signer';
import { cpuMicros, FASTEST, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * The CPU time of an order in a web process of 1, 2, 4 and 8 shards, with a master for each. There are as many web processes, so that
 * each broadcasts for one shard, and one of them gets all orders. There is a market in each shard; each order rests in one of
 * them by chance, and its wallet has enough collateral there. All sizes work in turns. More masters also share the
 * two processors here, so the same is measured with Express and one trivial EVALSHA, at the same masters in turns.
 */
export interface ShardsWebRow {
  readonly suite: 'shards-web';
  readonly shards: number;
  readonly connections: number;
  readonly orders: number;
  readonly webMicros: number;
  readonly floorMicros: number;
  /** One shard's CPU time of an order divided by this, the median of the rounds, and the same of Express alone. */
  readonly ofOne: number;
  readonly floorOfOne: number;
}

const COUNTS: readonly ShardCount[] = [1, 2, 4, 8];
/** With one, each command leaves alone, however many masters there are; with more, those for the same master leave together. */
const CONNECTIONS = [1, 16, 128] as const;
const ORDERS = 4_000;
const ROUNDS = 7;
/** Until V8 has compiled the hot code, and each wallet has collateral in each shard. */
const WARM_UP = 12_000;
const WARM_UP_CONNECTIONS = 16;
const READY_MS = 10_000;

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

export async function benchShardsWeb(deadlineMs: number, emit: (row: ShardsWebRow) => void): Promise<void> {
  const exchanges: Exchange[] = [];
  try {
    for (const count of COUNTS) exchanges.push(await startExchange(count));
    for (const exchange of exchanges) await run(exchange, WARM_UP, WARM_UP_CONNECTIONS);
    for (const connections of CONNECTIONS) {
      const costs = new Map<Exchange, Cost[]>(exchanges.map((exchange) => [exchange, []]));
      for (let n = 0; n < ROUNDS && Date.now() < deadlineMs; n++) {
        for (const exchange of exchanges) costs.get(exchange)?.push(await run(exchange, ORDERS, connections));
      }
      const ones = costs.get(exchanges[0] as Exchange) ?? [];
      for (const [{ count }, taken] of costs) {
        const medianOf = (side: keyof Cost): number => round(median(taken.map((cost) => cost[side])), 1);
        const ofOne = (side: keyof Cost): number =>
          round(median(taken.map((cost, n) => (ones[n]?.[side] ?? Number.NaN) / cost[side])), 3);
        emit({
          ...{ suite: 'shards-web', shards: count, connections, orders: taken.length * ORDERS },
          ...{ webMicros: medianOf('web'), floorMicros: medianOf('floor') },
          ...{ ofOne: ofOne('web'), floorOfOne: ofOne('floor') },
        });
      }
    }
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
  const signers: Signer[] = [];
  for (let shard = 0; shard < count; shard++) signers.push(await createSigner(first, undefined, { shard }));
  const redis = connect({ urls: cluster.url.split(',') });
  try {
    await ready(redis, READY_MS);
    for (let shard = 0; shard < count; shard++) await withoutWorker(redis, shardKeys(shard));
  } finally {
    disconnect(redis);
  }
  return { count, cluster, webs: [first, ...others], floor, signers };
}

/** CPU microseconds for one order: of the web process that gets them, then of Express alone. */
async function run({ webs, floor, signers }: Exchange, orders: number, connections: number): Promise<Cost> {
  const signed = Array.from({ length: orders }, () =>
    (signers[Math.floor(Math.random() * signers.length)] as Signer).sign(),
  );
  const ours = signed.map(({ path, body }) => requestBytes(path, body));
  const theirs = signed.map(({ body }) => requestBytes('/orders', body));
  return {
    web: (await flood(webs[0] as Side, ours, connections)) / orders,
    floor: (await flood(floor, theirs, connections)) / orders,
  };
}

/** CPU microseconds of the process. */
async function flood(side: Side, requests: Buffer[], connections: number): Promise<number> {
  const load = await openLoad(side.port, connections);
  const before = await cpuMicros(side);
  await load.flood(
    () => requests.pop() ?? null,
    (status, body) => {
      if (status !== 200) throw new Error(body());
    },
  );
  const spent = (await cpuMicros(side)) - before;
  load.stop();
  return spent;
}
