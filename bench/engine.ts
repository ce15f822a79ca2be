import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { lots, micro, pips } from '../src/exchange/units';
import { addressBytes } from '../src/store/records/order';
import { createKeys } from '../src/store/redis/keys';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { createEngine, type Engine } from '../src/store/verbs/engine';
import type { PlaceRequest } from '../src/store/verbs/place';
import { PLAIN_TERMS } from '../test/support/engine-order';
import { createFiller } from './fill';
import { type Size, sizes } from './size';

/**
 * The cost of the engine's commands in Redis, without HTTP. The floor is EVALSHA of `#!lua return 1` with 10 keys and 9
 * arguments of the size a submission has: warm, IN_FLIGHT commands in one pipeline, measured right before each
 * operation and in the same way. Server time is usec / calls of EVALSHA in INFO commandstats; `floors` is the median
 * over ROUNDS of the ratio within a round. A round takes Redis one or two milliseconds, so that other work on the
 * machine, which takes the processor away for longer, falls between rounds or spoils few of them. One row per operation
 * and depth, smallest depth first.
 */
export interface EngineRow {
  readonly op: 'insert' | 'cancel' | 'match1' | 'sweep10' | 'sweep100' | 'cancel100' | 'cancel1000';
  readonly depth: number;
  readonly opsPerSecond: number;
  readonly floorOpsPerSecond: number;
  readonly serverMicros: number;
  readonly floorMicros: number;
  readonly floors: number;
  /** Book, record and wallet index, without the signed order. */
  readonly bytesPerRestingOrder: number;
  /** The signed order packed beside it. */
  readonly bytesPerSignedOrder: number;
}

const DEPTHS = sizes([10, 10_000], [10, 10_000], [10, 10_000, 1_000_000]);
const FILL_STEP = 5_000;
/** The fewest orders that show the memory of one: with fewer, temporary allocations of Redis are larger. */
const MEMORY_DEPTH_MIN = 10_000;
const IN_FLIGHT = 200;
const ROUNDS = sizes(1, 15);
/** The pause of Redis before it is measured: a busy machine then lets it run for a while without a break. */
const REST_MS = 4;
/** The floor's nine arguments: together as many bytes as a submission has. */
const FLOOR_BYTES = [80, 32, 150, 20, 20, 8, 8, 6, 6];
const OPS_PER_ROUND = 300;
/** Commands in a round that take as long as many others. */
const LONG_OPS_PER_ROUND = 10;
const ORDERS_PER_WALLET = 100;
const SIGNED_BYTES = 118;
export const MARKET = { id: 'benchmkt', conditionId: `0x${'1'.repeat(64)}`, slug: 'bench' };
const keys = createKeys();

interface Pace {
  readonly rounds: number;
  readonly deadlineMs: number;
}

interface Cost {
  readonly micros: number;
  readonly perSecond: number;
}

/** `redis` must be empty and used by no other program; `deadlineMs` bounds the whole run. */
export async function benchEngine(
  redis: RedisClient,
  size: Size,
  deadlineMs: number,
  emit: (row: EngineRow) => void,
): Promise<void> {
  const run = createScripts(batched(redis));
  const engine = createEngine({ run, grantMicro: micro(1e14), makersMax: 1000 });
  const pace = { rounds: ROUNDS[size], deadlineMs };
  for (const depth of DEPTHS[size]) {
    if (Date.now() > deadlineMs) return;
    const memory = await fill(redis, engine, Math.max(depth, MEMORY_DEPTH_MIN), deadlineMs);
    if (!memory || (depth < MEMORY_DEPTH_MIN && !(await fill(redis, engine, depth, deadlineMs)))) return;
    for (const measure of [
      insertAndCancel,
      matches(1),
      matches(10),
      matches(100),
      cancelMany(100),
      cancelMany(1_000),
    ]) {
      if (Date.now() > deadlineMs) return;
      for (const row of await measure(redis, engine, pace)) emit({ ...row, depth, ...memory });
    }
  }
}

type Measured = Pick<
  EngineRow,
  'op' | 'opsPerSecond' | 'floorOpsPerSecond' | 'serverMicros' | 'floorMicros' | 'floors'
>;

let counter = 0;
const wallets = new Map<number, string>();
export function wallet(n: number): string {
  const known = wallets.get(n);
  if (known !== undefined) return known;
  const address = `0x${createHash('sha1').update(`wallet ${n}`).digest('hex')}`;
  wallets.set(n, address);
  return address;
}

/** Bids at 0.01 to 0.30 and asks (BUY No) at 0.71 to 1, so that 0.31 to 0.70 is free for the measured orders. */
export function request(
  maker: string,
  side: 'bid' | 'ask',
  pricePips: number,
  sizeLots: number,
  signedBytes = SIGNED_BYTES,
): PlaceRequest {
  counter++;
  const outcome = side === 'bid' ? 0 : 1;
  const own = side === 'bid' ? pricePips : 10_000 - pricePips;
  return {
    marketId: MARKET.id,
    orderHash: `0x${createHash('sha256').update(`order ${counter}`).digest('hex')}`,
    maker,
    order: { side: 0, outcome, pricePips: pips(own), sizeLots: lots(sizeLots), budgetMicro: micro(0) },
    orderType: 'GTC',
    ...PLAIN_TERMS,
    signed: signedBytes === 0 ? Buffer.alloc(0) : randomBytes(signedBytes),
  };
}

export const passive = (n: number, signedBytes?: number): PlaceRequest =>
  n % 2
    ? request(wallet(Math.floor(n / ORDERS_PER_WALLET)), 'bid', 100 + (n % 30) * 100, 100, signedBytes)
    : request(wallet(Math.floor(n / ORDERS_PER_WALLET)), 'ask', 7_100 + (n % 29) * 100, 100, signedBytes);

/**
 * The client with all commands of a tick in one pipeline: Redis then works through them back to back, as it does
 * under many replicas, instead of waiting for this one process between any two.
 */
export function batched(redis: RedisClient): RedisClient {
  type Waiting = { args: unknown[]; resolve: (reply: unknown) => void; reject: (error: Error) => void };
  let waiting: Waiting[] = [];
  const flush = async () => {
    const batch = waiting;
    waiting = [];
    const pipeline = redis.pipeline();
    for (const { args } of batch) pipeline.callBuffer(...(args as [string, ...string[]]));
    const replies = (await pipeline.exec()) ?? [];
    for (const [i, { resolve, reject }] of batch.entries()) {
      const [error, reply] = replies[i] ?? [new Error('no reply'), null];
      error ? reject(error) : resolve(reply);
    }
  };
  const callBuffer = (...args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (waiting.push({ args, resolve, reject }) === 1) setImmediate(flush);
    });
  // A script that Redis does not know yet is sent as a whole, one by one.
  return {
    callBuffer,
    options: redis.options,
    sendCommand: redis.sendCommand.bind(redis),
  } as unknown as RedisClient;
}

/** Runs `total` tasks, IN_FLIGHT at a time. */
export async function inFlight(total: number, task: (i: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < total; at += IN_FLIGHT) {
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, total - at) }, (_, i) => task(at + i)));
  }
}

/**
 * The memory that Redis allocates for the book, the records and the index of the first `count` wallets, each key to the
 * byte.
 */
async function usedMemory(redis: RedisClient, count: number): Promise<number> {
  const ofMarket = [keys.market(MARKET.id), keys.bids(MARKET.id), keys.asks(MARKET.id)];
  const ofWallets = Array.from({ length: count }, (_, n) => keys.wallet(addressBytes(wallet(n))));
  const pipeline = redis.pipeline();
  for (const key of [...ofMarket, keys.orders, ...ofWallets])
    pipeline.call('MEMORY', 'USAGE', key, 'SAMPLES', '0');
  const replies = (await pipeline.exec()) ?? [];
  return replies.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** An empty exchange with `depth` resting orders; half of them without a signed order, to distinguish the two costs. */
export async function fill(redis: RedisClient, engine: Engine, depth: number, deadlineMs: number) {
  await redis.call('FLUSHALL');
  await engine.createMarket(MARKET, '{}', 'OPEN');
  // One order the usual way, so that Redis knows the script.
  const first = passive(0);
  await engine.place(first);
  await engine.cancel(MARKET.id, first.maker, first.orderHash, 'USER');
  const filler = await createFiller(redis);
  const half = depth / 2;
  const bytes: number[] = [];
  try {
    for (const [from, signed] of [
      [0, 0],
      [half, SIGNED_BYTES],
    ] as const) {
      const before = await usedMemory(redis, depth / ORDERS_PER_WALLET);
      for (let at = 0; at < half; at += FILL_STEP) {
        if (Date.now() > deadlineMs) return null;
        const count = Math.min(FILL_STEP, half - at);
        await filler.place(Array.from({ length: count }, (_, i) => passive(from + at + i, signed)));
        await redis.call('XTRIM', keys.outbox, 'MAXLEN', '0');
      }
      bytes.push(((await usedMemory(redis, depth / ORDERS_PER_WALLET)) - before) / half);
    }
  } finally {
    filler.stop();
  }
  const sides = [keys.bids(MARKET.id), keys.asks(MARKET.id)];
  const [bids = 0, asks = 0] = await Promise.all(sides.map((key) => redis.zcard(key)));
  if (bids + asks !== depth) throw new Error(`${bids + asks} orders rest instead of ${depth}`);
  const [bare = 0, whole = 0] = bytes;
  return { bytesPerRestingOrder: Math.round(bare), bytesPerSignedOrder: Math.round(whole - bare) };
}

/** Server time and rate of the EVALSHA commands of one stretch of work. */
export async function cost(redis: RedisClient, calls: number, work: () => Promise<void>): Promise<Cost> {
  await redis.call('CONFIG', 'RESETSTAT');
  await setTimeout(REST_MS);
  const start = process.hrtime.bigint();
  await work();
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const stats = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(
    String(await redis.call('INFO', 'commandstats')),
  );
  return { micros: Number(stats?.[2]) / Number(stats?.[1]), perSecond: calls / seconds };
}

async function floor(redis: RedisClient): Promise<Cost> {
  const sha = String(await redis.call('SCRIPT', 'LOAD', '#!lua\nreturn 1'));
  const names = Array.from({ length: 10 }, (_, i) => `{x0}:m:floormkt:${i}`);
  const args = FLOOR_BYTES.map((bytes) => randomBytes(bytes));
  const client = batched(redis);
  return cost(redis, OPS_PER_ROUND * 2, () =>
    inFlight(OPS_PER_ROUND * 2, () => client.callBuffer('EVALSHA', sha, 10, ...names, ...args)),
  );
}

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function summary(op: EngineRow['op'], costs: readonly { op: Cost; floor: Cost }[]): Measured {
  const round = (n: number): number => Math.round(n * 100) / 100;
  return {
    op,
    opsPerSecond: Math.round(median(costs.map((c) => c.op.perSecond))),
    floorOpsPerSecond: Math.round(median(costs.map((c) => c.floor.perSecond))),
    serverMicros: round(median(costs.map((c) => c.op.micros))),
    floorMicros: round(median(costs.map((c) => c.floor.micros))),
    floors: round(median(costs.map((c) => c.op.micros / c.floor.micros))),
  };
}

async function insertAndCancel(redis: RedisClient, engine: Engine, pace: Pace): Promise<Measured[]> {
  const inserts: { op: Cost; floor: Cost }[] = [];
  const cancels: { op: Cost; floor: Cost }[] = [];
  for (let round = -1; round < pace.rounds && Date.now() < pace.deadlineMs; round++) {
    const requests = Array.from({ length: OPS_PER_ROUND }, (_, i) =>
      request(wallet(1e6 + (i % 100)), i % 2 ? 'bid' : 'ask', i % 2 ? 3_500 : 6_500, 100),
    );
    const base = await floor(redis);
    const place = (i: number) => engine.place(requests[i] as PlaceRequest);
    inserts.push({ op: await cost(redis, OPS_PER_ROUND, () => inFlight(OPS_PER_ROUND, place)), floor: base });
    const cancel = ({ maker, orderHash }: PlaceRequest) => engine.cancel(MARKET.id, maker, orderHash, 'USER');
    const undo = () => inFlight(OPS_PER_ROUND, (i) => cancel(requests[i] as PlaceRequest));
    cancels.push({ op: await cost(redis, OPS_PER_ROUND, undo), floor: base });
  }
  // The first round makes wallets known and caches warm.
  return [summary('insert', inserts.slice(1)), summary('cancel', cancels.slice(1))];
}

/** One command that cancels a number of orders of one wallet, half of them on each side, at 10 prices each. */
function cancelMany(many: 100 | 1_000) {
  return async (redis: RedisClient, engine: Engine, pace: Pace): Promise<Measured[]> => {
    const calls = (LONG_OPS_PER_ROUND * 100) / many;
    const costs: { op: Cost; floor: Cost }[] = [];
    const maker = (n: number) => wallet(4e6 + n);
    const price = (i: number) => (i % 2 ? 3_100 : 6_100) + (i % 20) * 20;
    for (let round = -1; round < pace.rounds && Date.now() < pace.deadlineMs; round++) {
      const orders = Array.from({ length: calls * many }, (_, i) =>
        request(maker(Math.floor(i / many)), i % 2 ? 'bid' : 'ask', price(i), 100),
      );
      await inFlight(orders.length, (i) => engine.place(orders[i] as PlaceRequest));
      const hashes = orders.map(({ orderHash }) => orderHash);
      const cancel = (n: number) =>
        engine.cancelMany(MARKET.id, maker(n), hashes.slice(n * many, (n + 1) * many), 'USER');
      const base = await floor(redis);
      const op = await cost(redis, calls, () => inFlight(calls, cancel));
      costs.push({ op, floor: base });
    }
    return [summary(many === 100 ? 'cancel100' : 'cancel1000', costs.slice(1))];
  };
}

/** Takers that fill `makers` resting orders each, of as many wallets, at one price. */
function matches(makers: 1 | 10 | 100) {
  return async (redis: RedisClient, engine: Engine, pace: Pace): Promise<Measured[]> => {
    const takers = Math.max(LONG_OPS_PER_ROUND, Math.floor(OPS_PER_ROUND / makers));
    const costs: { op: Cost; floor: Cost }[] = [];
    for (let round = -1; round < pace.rounds && Date.now() < pace.deadlineMs; round++) {
      await inFlight(takers * makers, (i) =>
        engine.place(request(wallet(2e6 + (i % 1000)), 'ask', 5_000, 100)),
      );
      const orders = Array.from({ length: takers }, (_, i) =>
        request(wallet(3e6 + (i % 20)), 'bid', 5_000, 100 * makers),
      );
      const base = await floor(redis);
      const op = await cost(redis, takers, () =>
        inFlight(takers, (i) => engine.place(orders[i] as PlaceRequest)),
      );
      costs.push({ op, floor: base });
    }
    return [summary(makers === 1 ? 'match1' : makers === 10 ? 'sweep10' : 'sweep100', costs.slice(1))];
  };
}
