import { Redis } from 'ioredis';
import { type RunningRedis, startRedis } from '../src/local/redis';
import { median, round } from './figures';
import { redisCpuMicros } from './keep-up';
import { openLoad, requestBytes } from './load';
import { createSigner, type Signer } from './signer';
import { cpuMicros, type Side, startWeb, stopSides } from './web-process';

/**
 * One, two and four web processes on one Redis: the CPU time that an order takes of all of them together, and of
 * Redis. Orders per second of the clock would say how many cores there are. Each size has a Redis of its own, and they
 * work in turns. The rate is the same for all, below what the cores can do, so that nobody waits for a core.
 */
export interface ScaleRow {
  readonly suite: 'scale';
  readonly processes: number;
  readonly orders: number;
  readonly webCpuMicros: number;
  readonly redisCpuMicros: number;
  readonly ordersPerWebCpuSecond: number;
  readonly ordersPerRedisCpuSecond: number;
  /** To those of one process. */
  readonly webRatio: number;
  readonly redisRatio: number;
}

const SIZES = [1, 2, 4] as const;
const ORDERS = 4_000;
const CONNECTIONS = 16;
const PER_SECOND = 2_000;

interface Fleet {
  readonly processes: number;
  readonly server: RunningRedis;
  readonly redis: Redis;
  readonly sides: readonly Side[];
  readonly signer: Signer;
}

interface Cost {
  readonly web: number;
  readonly redis: number;
}

export async function benchScale(
  deadlineMs: number,
  emit: (row: ScaleRow) => void,
  rounds: number,
): Promise<void> {
  const fleets: Fleet[] = [];
  try {
    for (const processes of SIZES) fleets.push(await startFleet(processes));
    const costs = new Map<Fleet, Cost[]>(fleets.map((fleet) => [fleet, []]));
    for (let n = -WARM_UPS; n < rounds && Date.now() < deadlineMs; n++) {
      for (const fleet of fleets) {
        const cost = await run(fleet, n < 0);
        if (n >= 0) costs.get(fleet)?.push(cost);
      }
    }
    const one = costOf(costs.get(fleets[0] as Fleet) ?? []);
    for (const [{ processes }, taken] of costs) {
      const { web, redis } = costOf(taken);
      emit({
        ...{ suite: 'scale', processes, orders: taken.length * ORDERS },
        ...{ webCpuMicros: round(web, 1), redisCpuMicros: round(redis, 1) },
        ordersPerWebCpuSecond: Math.round(1e6 / web),
        ordersPerRedisCpuSecond: Math.round(1e6 / redis),
        ...{ webRatio: round(one.web / web), redisRatio: round(one.redis / redis) },
      });
    }
  } finally {
    for (const { server, redis, sides } of fleets) {
      stopSides(sides);
      redis.disconnect();
      await server.stop();
    }
  }
}

const costOf = (costs: readonly Cost[]): Cost => ({
  web: median(costs.map(({ web }) => web)),
  redis: median(costs.map(({ redis }) => redis)),
});

/** Rounds in which every process gets as far as its compiler takes it: the fourth of a fleet sees a quarter of the orders. */
const WARM_UPS = 2;

async function startFleet(processes: number): Promise<Fleet> {
  const server = await startRedis();
  const sides: Side[] = [];
  for (let n = 0; n < processes; n++) sides.push(await startWeb('secp256k1', server.url));
  const signer = await createSigner(sides[0] as Side);
  return { processes, server, redis: new Redis(server.url), sides, signer };
}

/** CPU microseconds for one order. To warm up every process gets as many orders as one alone would. */
async function run({ redis, sides, signer }: Fleet, isWarmUp: boolean): Promise<Cost> {
  const each = isWarmUp ? ORDERS : ORDERS / sides.length;
  const plans = sides.map(() =>
    Array.from({ length: each }, () => {
      const { path, body } = signer.sign();
      return requestBytes(path, body);
    }),
  );
  const web = async (): Promise<number> =>
    (await Promise.all(sides.map(cpuMicros))).reduce((sum, micros) => sum + micros, 0);
  const loads = await Promise.all(sides.map(({ port }) => openLoad(port, CONNECTIONS)));
  const before = { web: await web(), redis: await redisCpuMicros(redis) };
  await Promise.all(
    loads.map((load, i) =>
      load.steady(
        PER_SECOND / loads.length,
        () => plans[i]?.pop() ?? null,
        (status, body) => {
          if (status !== 200) throw new Error(body());
        },
      ),
    ),
  );
  const orders = each * sides.length;
  const cost = {
    web: ((await web()) - before.web) / orders,
    redis: ((await redisCpuMicros(redis)) - before.redis) / orders,
  };
  for (const load of loads) load.stop();
  return cost;
}
