import { Redis } from 'ioredis';
import { type RunningRedis, startRedis } from '../src/local/redis';
import { median, round } from './figures';
import { redisCpuMicros } from './keep-up';
import { openLoad, requestBytes } from './load';
import { withoutWorker } from './no-worker';
import { createSigner, type Signer } from './signer';
import { cpuMicros, FASTEST, type Side, startSide, startWeb, stopSides } from './web-process';

/**
 * One, two and four busy web processes on one Redis: the CPU time of an order in all of them together, and in Redis. Orders
 * per second would only show the number of cores. With more processes than cores, each finds the caches of the CPU filled by
 * the others. So the same is measured with as many processes of Express with one trivial EVALSHA, which share nothing. Each
 * size has a separate Redis, and all work in turn.
 */
export interface ScaleRow {
  readonly suite: 'scale';
  readonly processes: number;
  readonly orders: number;
  readonly webCpuMicros: number;
  readonly redisCpuMicros: number;
  readonly floorCpuMicros: number;
  readonly ordersPerWebCpuSecond: number;
  readonly ordersPerRedisCpuSecond: number;
  /** Divided by the figures of one process. */
  readonly webRatio: number;
  readonly redisRatio: number;
  /** The throughput of processes that share nothing. */
  readonly floorRatio: number;
  /** An order in orders of bare Express of the same round: with one process, divided by that with these. */
  readonly keptRatio: number;
}

const SIZES = [1, 2, 4] as const;
/** A round is short, so that the machine is the same for an order and for the order of Express that it is divided by. */
const ORDERS = 2_000;
const CONNECTIONS = 16;
/** Orders for each process before the first round, until V8 has compiled the hot code. */
const WARM_UP = 10_000;

interface Fleet {
  readonly processes: number;
  readonly server: RunningRedis;
  readonly redis: Redis;
  readonly webs: readonly Side[];
  readonly floors: readonly Side[];
  readonly signer: Signer;
}

interface Cost {
  readonly web: number;
  readonly redis: number;
  readonly floor: number;
  /** web / floor of the same round. */
  readonly inFloors: number;
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
    for (const fleet of fleets) await run(fleet, WARM_UP * fleet.processes);
    for (let n = 0; n < rounds && Date.now() < deadlineMs; n++) {
      for (const fleet of fleets) costs.get(fleet)?.push(await run(fleet, ORDERS, n % 2 === 1));
    }
    const one = costOf(costs.get(fleets[0] as Fleet) ?? []);
    for (const [{ processes }, taken] of costs) {
      const { web, redis, floor, inFloors } = costOf(taken);
      emit({
        suite: 'scale',
        processes,
        orders: taken.length * ORDERS,
        webCpuMicros: round(web, 1),
        redisCpuMicros: round(redis, 1),
        floorCpuMicros: round(floor, 1),
        ordersPerWebCpuSecond: Math.round(1e6 / web),
        ordersPerRedisCpuSecond: Math.round(1e6 / redis),
        webRatio: round(one.web / web),
        redisRatio: round(one.redis / redis),
        floorRatio: round(one.floor / floor),
        keptRatio: round(one.inFloors / inFloors),
      });
    }
  } finally {
    for (const { server, redis, webs, floors } of fleets) {
      stopSides([...webs, ...floors]);
      redis.disconnect();
      await server.stop();
    }
  }
}

const costOf = (costs: readonly Cost[]): Cost => ({
  web: median(costs.map(({ web }) => web)),
  redis: median(costs.map(({ redis }) => redis)),
  floor: median(costs.map(({ floor }) => floor)),
  inFloors: median(costs.map(({ inFloors }) => inFloors)),
});

async function startFleet(processes: number): Promise<Fleet> {
  const server = await startRedis();
  const [webs, floors]: [Side[], Side[]] = [[], []];
  for (let n = 0; n < processes; n++) {
    webs.push(await startWeb(FASTEST, server.url));
    floors.push(await startSide('plain.ts', ['floor', server.url, '{}', '']));
  }
  const signer = await createSigner(webs[0] as Side);
  const redis = new Redis(server.url);
  await withoutWorker(redis);
  return { processes, server, redis, webs, floors, signer };
}

/** CPU microseconds for one order: of the exchange, and of processes that share nothing, which go first every other time. */
async function run(
  { redis, webs, floors, signer }: Fleet,
  orders: number,
  floorFirst = false,
): Promise<Cost> {
  const signed = Array.from({ length: orders }, () => signer.sign());
  const bare = async (): Promise<number> =>
    flood(
      floors,
      signed.map(({ body }) => requestBytes('/orders', body)),
    );
  const early = floorFirst ? await bare() : 0;
  const before = await redisCpuMicros(redis);
  const web = await flood(
    webs,
    signed.map(({ path, body }) => requestBytes(path, body)),
  );
  const after = await redisCpuMicros(redis);
  const floor = floorFirst ? early : await bare();
  return {
    web: web / orders,
    redis: (after - before) / orders,
    floor: floor / orders,
    inFloors: web / floor,
  };
}

/** CPU microseconds of all of them; each gets its part of the orders. */
async function flood(sides: readonly Side[], requests: readonly Buffer[]): Promise<number> {
  const cpu = async (): Promise<number> =>
    (await Promise.all(sides.map(cpuMicros))).reduce((sum, micros) => sum + micros, 0);
  const loads = await Promise.all(sides.map(({ port }) => openLoad(port, CONNECTIONS)));
  const parts = sides.map((_, i) => requests.filter((_request, n) => n % sides.length === i));
  const before = await cpu();
  await Promise.all(
    loads.map((load, i) =>
      load.flood(
        () => parts[i]?.pop() ?? null,
        (status, body) => {
          if (status !== 200) throw new Error(body());
        },
      ),
    ),
  );
  const taken = (await cpu()) - before;
  for (const load of loads) load.stop();
  return taken;
}
