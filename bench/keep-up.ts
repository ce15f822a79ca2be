import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { PlaceRequest } from '../src/store/verbs/place';
import { request, wallet } from './engine';
import { round } from './figures';
import { createFiller } from './fill';
import { openLoad, requestBytes } from './load';
import { createPulse, growth, keepsUp, type Pulse } from './pulse';
import { createSigner, type Signer } from './signer';
import { type Size, sizes } from './size';
import { call, cpuMicros, FASTEST, type Side, startWeb, startWorker, stopSides } from './web-process';

/**
 * Whether settlement and price history keep up with matching: one web process, one worker, Redis and the load on the same
 * cores, every second order crossing.
 *   http        signed orders over HTTP, as fast as 16 connections allow
 *   engine      orders straight into the engine, at rising rates until something falls behind
 *   standstill  as fast as one client can while the worker is stopped, until new orders are refused; then it continues
 */
export interface KeepUpRow {
  readonly suite: 'keep-up';
  readonly op: 'http' | 'engine' | 'standstill';
  readonly ordersPerSecond: number;
  readonly matchesPerSecond: number;
  readonly settledPerSecond: number;
  readonly keepsUp: boolean;
  readonly outboxLength: number;
  readonly unprocessedMax: number;
  /** The growth of the backlog in entries a second. */
  readonly unprocessedGrowth: number;
  readonly journalSecondsMax: number;
  readonly candlesSecondsMax: number;
  /** The time from the last order until everything is settled, booked and counted. */
  readonly drainSeconds: number;
  /** The same for each part. */
  readonly drain: string;
  /** CPU of web, worker and Redis, of one core each. */
  readonly webCpu: number;
  readonly workerCpu: number;
  readonly redisCpu: number;
  /** During a standstill: the answers to a new order and to a cancel. */
  readonly refusedWith: string;
  readonly cancelled: boolean | null;
}

const CONNECTIONS = 16;
/** The number of entries is exact except for those between two readings. */
const LOOK_EVERY_MS = 100;
const DURATIONS = sizes(
  { warmMs: 200, httpMs: 1_000, stepMs: 1_000 },
  { warmMs: 2_000, httpMs: 10_000, stepMs: 7_000 },
  { warmMs: 2_000, httpMs: 30_000, stepMs: 15_000 },
);
const DRAIN_MS_MAX = 120_000;
const DRAIN_LOOK_MS = 50;
const CENTS = 50;
const PIPS = 5_000;
const TICK_MS = 4;
/** The size of a batch, which Redis processes in some milliseconds; it serves all other clients before the next one. */
const BATCH_MAX = 200;
const WALLETS = 500;
/** Orders a second, one step after another. */
const RATES = sizes([1_000], [4_000, 6_000, 8_000, 10_000, 12_000, 15_000, 18_000, 22_000, 27_000, 33_000]);
const REACHED_PART = 0.9;
const FLOOD_RATE = 1_000_000;
const STANDSTILL_MS_MAX = 60_000;
const TRY_EVERY_MS = 500;
const SIGNED_BYTES = 118;

type Drain = Record<'outbox' | 'settled' | 'journal' | 'candles', number>;

interface Stage {
  readonly redis: Redis;
  readonly web: Side;
  readonly worker: Side;
  readonly signer: Signer;
  readonly look: () => Promise<Pulse>;
}

/** Returns the number of orders accepted in `ms`. */
type Drive = (ms: number) => Promise<number>;

export async function benchKeepUp(
  redisUrl: string,
  size: Size,
  deadlineMs: number,
  emit: (row: KeepUpRow) => void,
): Promise<void> {
  const redis = new Redis(redisUrl);
  const web = await startWeb(FASTEST, redisUrl);
  const worker = await startWorker(redisUrl);
  try {
    const signer = await createSigner(web);
    const look = createPulse(redis, signer.market.id);
    const stage: Stage = { redis, web, worker, signer, look };
    const isOver = (): boolean => Date.now() > deadlineMs;
    const { warmMs, httpMs, stepMs } = DURATIONS[size];
    await measure(stage, 'http', await overHttp(stage, warmMs), warmMs);
    emit(await measure(stage, 'http', await overHttp(stage, httpMs), httpMs));
    for (const rate of RATES[size]) {
      if (isOver()) return;
      const row = await measure(stage, 'engine', intoEngine(stage, rate), stepMs);
      emit(row);
      // A rate that is not reached shows the limit of the load itself.
      if (!row.keepsUp || row.ordersPerSecond < rate * REACHED_PART) break;
    }
    // It lasts until 100,000 entries are unprocessed.
    if (size !== 'small' && !isOver()) emit(await standstill(stage));
  } finally {
    stopSides([web, worker]);
    redis.disconnect();
  }
}

/** Runs the load and measures meanwhile, then waits until nothing is behind any more. */
async function measure(stage: Stage, op: KeepUpRow['op'], drive: Drive, ms: number): Promise<KeepUpRow> {
  const { redis, web, worker, look } = stage;
  const cpu = async () => ({
    web: await cpuMicros(web),
    worker: await cpuMicros(worker),
    redis: await redisCpuMicros(redis),
  });
  const [before, first, start] = [await cpu(), await look(), performance.now()];
  const pulses: Pulse[] = [];
  let driving = true;
  const looking = (async () => {
    while (driving) {
      pulses.push(await look());
      await wait(LOOK_EVERY_MS);
    }
  })();
  const orders = await drive(ms).finally(() => {
    driving = false;
  });
  const [last, seconds, after] = [await look(), (performance.now() - start) / 1_000, await cpu()];
  await looking;
  const drain = await drained(look);
  const share = (who: 'web' | 'worker' | 'redis'): number =>
    round((after[who] - before[who]) / seconds / 1e6);
  const most = (of: (pulse: Pulse) => number): number => Math.max(...pulses.map(of), of(last));
  return {
    suite: 'keep-up',
    op,
    ordersPerSecond: Math.round(orders / seconds),
    matchesPerSecond: Math.round((last.matches - first.matches) / seconds),
    settledPerSecond: Math.round((last.settled - first.settled) / seconds),
    keepsUp: keepsUp(pulses, orders / seconds),
    outboxLength: last.length,
    unprocessedMax: most(({ unprocessed }) => unprocessed),
    unprocessedGrowth: Math.round(growth(pulses, ({ unprocessed }) => unprocessed)),
    journalSecondsMax: round(most(({ journalSeconds }) => journalSeconds)),
    candlesSecondsMax: round(most(({ candlesSeconds }) => candlesSeconds)),
    drainSeconds: Math.max(...Object.values(drain)),
    drain: Object.entries(drain)
      .map(([part, lasted]) => `${part} ${lasted}`)
      .join(', '),
    webCpu: share('web'),
    workerCpu: share('worker'),
    redisCpu: share('redis'),
    refusedWith: '',
    cancelled: null,
  };
}

/** Seconds until each part that follows a match had no work left. */
async function drained(look: () => Promise<Pulse>): Promise<Drain> {
  const start = performance.now();
  const done: Drain = { outbox: Number.NaN, settled: Number.NaN, journal: Number.NaN, candles: Number.NaN };
  while (Object.values(done).some(Number.isNaN)) {
    const pulse = await look();
    const seconds = round((pulse.atMs - start) / 1_000);
    const note = (part: keyof Drain, isDone: boolean): void => {
      if (isDone && Number.isNaN(done[part])) done[part] = seconds;
    };
    note('outbox', pulse.unprocessed === 0);
    note('settled', pulse.settled >= pulse.matches);
    note('journal', pulse.journalSeconds === 0);
    note('candles', pulse.candlesSeconds === 0);
    if (seconds * 1_000 > DRAIN_MS_MAX) throw new Error(`not done in time: ${JSON.stringify(done)}`);
    await wait(DRAIN_LOOK_MS);
  }
  return done;
}

/** Orders of all wallets at one price, on both sides in turns. They are signed before the clock starts. */
async function overHttp({ web, signer }: Stage, ms: number): Promise<Drive> {
  const count = Math.ceil(ms * HTTP_RATE_MAX);
  const requests: Buffer[] = [];
  for (let n = 0; n < count; n++) {
    const { path, body } = signer.sign({ cents: CENTS, outcome: n % 2 ? 1 : 0 });
    requests.push(requestBytes(path, body));
    // Lets the processes answer that they are alive meanwhile.
    if (n % 1_000 === 0) await wait(0);
  }
  const load = await openLoad(web.port, CONNECTIONS);
  return async (forMs) => {
    const [until, sent] = [performance.now() + forMs, { count: 0 }];
    try {
      await load.flood(
        () => (performance.now() < until ? (requests[sent.count++] ?? null) : null),
        (status, body) => {
          if (status !== 200) throw new Error(body());
        },
      );
    } finally {
      load.stop();
    }
    return Math.min(sent.count, count);
  };
}

/** More than one web process accepts in a millisecond. */
const HTTP_RATE_MAX = 7;

/** Written to Redis without waiting for replies, because the load takes CPU time from the worker on the same cores. */
function intoEngine({ redis, signer }: Stage, perSecond: number, isEnough = () => false): Drive {
  return async (ms) => {
    const filler = await createFiller(redis);
    const start = performance.now();
    let count = 0;
    const order = (n: number): PlaceRequest => ({
      ...request(wallet(5e6 + (n % WALLETS)), n % 2 ? 'ask' : 'bid', PIPS, 100, SIGNED_BYTES),
      marketId: signer.market.id,
    });
    try {
      for (let now = start; now - start < ms && !isEnough(); now = performance.now()) {
        const due = Math.ceil(((now - start) * perSecond) / 1_000) - count;
        const batch = Array.from({ length: Math.min(due, BATCH_MAX) }, () => order(count++));
        await filler.place(batch);
        await wait(due > BATCH_MAX ? 0 : TICK_MS);
      }
    } finally {
      filler.stop();
    }
    return count;
  };
}

/**
 * One web process cannot build a backlog at any rate, so the worker is stopped: the backlog grows until new orders are
 * refused. Then a cancel must still pass, and when the worker continues it must process everything.
 */
async function standstill(stage: Stage): Promise<KeepUpRow> {
  const { web, signer } = stage;
  const tokens = await signer.signIn();
  const resting = signer.sign({ cents: 1, outcome: 0 });
  await call(web, 'POST', resting.path, resting.body);
  const said = { refusedWith: '', cancelled: null as boolean | null };
  const watch = async (): Promise<void> => {
    const { path, body } = signer.sign({ cents: 1, outcome: 0 });
    const { status, text } = await call(web, 'POST', path, body);
    if (status === 200 || said.refusedWith === 'BACKLOG') return;
    said.refusedWith = String(JSON.parse(text).code);
    if (said.refusedWith !== 'BACKLOG') return;
    const cancel = `/orders/${resting.orderHash}/cancel`;
    said.cancelled = (await call(web, 'POST', cancel, undefined, tokens[resting.wallet])).status === 200;
  };
  const watching = setInterval(() => {
    watch().catch((error: unknown) => {
      said.refusedWith = String(error);
    });
  }, TRY_EVERY_MS);
  try {
    const flood = intoEngine(stage, FLOOD_RATE, () => said.cancelled !== null);
    const drive: Drive = async (ms) => {
      stage.worker.child.kill('SIGSTOP');
      try {
        return await flood(ms);
      } finally {
        stage.worker.child.kill('SIGCONT');
      }
    };
    return { ...(await measure(stage, 'standstill', drive, STANDSTILL_MS_MAX)), ...said };
  } finally {
    clearInterval(watching);
  }
}

export async function redisCpuMicros(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const of = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (of('used_cpu_user') + of('used_cpu_sys')) * 1e6;
}
