import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { micro } from '../src/exchange/units';
import { startArchiving } from '../src/extensions/archive/jobs/archiving';
import { createArchive } from '../src/extensions/archive/postgres/archive';
import { createForgetting } from '../src/extensions/archive/store/forgetting';
import { openSource } from '../src/extensions/archive/store/source';
import { NO_ARCHIVED_READS } from '../src/store/lists/archived-reads';
import { addressBytes } from '../src/store/records/order';
import { createKeys } from '../src/store/redis/keys';
import { createScripts, scriptSources } from '../src/store/redis/scripts';
import { createMatches } from '../src/store/settlement/matches';
import { createSettlements } from '../src/store/settlement/settlements';
import { createEngine } from '../src/store/verbs/engine';
import { startPostgres, type TestPostgres } from '../test/support/postgres-server';
import { READERS } from '../test/support/readers';
import { benchTraces, signedAt } from './archive-traces';
import { request, wallet } from './engine';
import { round } from './figures';
import { createFiller } from './fill';
import { redisCpuMicros } from './keep-up';
import { createPulse } from './pulse';
import { createSigner } from './signer';
import { type Size, sizes } from './size';
import { FASTEST, startWeb, startWorker, stopSides } from './web-process';

/**
 * How fast the past leaves Redis, and what remains of it.
 *   drain   orders that all traded, with their matches, settlements and lines of journals: archived and forgotten
 *   memory  used_memory for each dead order: those that could be booked again, and those that the rules refuse in any case
 *   insert  server time of an order that rests in a market with traces, against a market without
 */
export type ArchiveRow =
  | {
      readonly op: 'drain';
      readonly orders: number;
      readonly seconds: number;
      readonly ordersPerSecond: number;
      /** CPU for each order: of Redis, and of the process that archives. */
      readonly redisMicros: number;
      readonly workerMicros: number;
      /** The longest call of a script that forgets, by Redis' slow log. */
      readonly longestCallMs: number;
      readonly longestScript: string;
    }
  | {
      readonly op: 'memory';
      readonly of: string;
      /** The rules refuse these orders in any case, so nothing is to remain of them. */
      readonly isRefused: boolean;
      readonly orders: number;
      readonly bytesPerOrder: number;
    }
  | {
      readonly op: 'insert';
      readonly traces: number;
      readonly micros: number;
      readonly microsWithout: number;
      readonly ratio: number;
    };

const keys = createKeys();
const ORDERS = sizes(400, 30_000, 90_000);
/** Redis keeps up to 512 small fields in a list, and searches it; an exchange with an archive has more wallets. */
const WALLETS = 1_000;
const PIPS = 5_000;
const BATCH = 200;
const LOOK_MS = 50;
const PATIENCE_MS = 300_000;
const SLOW_MICROS = 200;
const SLOW_KEPT = 10_000;

export async function benchArchive(
  redisUrl: string,
  size: Size,
  emit: (row: ArchiveRow) => void,
): Promise<void> {
  const redis = new Redis(redisUrl);
  const postgres = await startPostgres({ durable: true });
  try {
    const orders = ORDERS[size];
    await trade(redis, redisUrl, orders);
    emit({ op: 'drain', ...(await drain(redis, postgres, orders)) });
    await benchTraces(redis, size, (isLeft) => archiving(redis, postgres, isLeft), emit);
  } finally {
    redis.disconnect();
    await postgres.stop();
  }
}

/** So many orders that all met another, with everything that follows a match done. */
async function trade(redis: Redis, redisUrl: string, count: number): Promise<void> {
  const web = await startWeb(FASTEST, redisUrl);
  const worker = await startWorker(redisUrl);
  try {
    const { market } = await createSigner(web);
    const look = createPulse(redis, market.id);
    const engine = createEngine({ run: createScripts(redis), grantMicro: micro(1e14), makersMax: 1_000 });
    const order = (n: number) => ({
      ...request(wallet(5e6 + (n % WALLETS)), n % 2 ? 'ask' : 'bid', PIPS, 100, 0),
      marketId: market.id,
      signed: signedAt(0),
    });
    // Two the usual way, so that Redis knows the script.
    for (const n of [count, count + 1]) await engine.place(order(n));
    const filler = await createFiller(redis);
    for (let at = 0; at < count; at += BATCH)
      await filler.place(Array.from({ length: BATCH }, (_, i) => order(at + i)));
    filler.stop();
    const [placed, open] = [await redis.hlen(keys.orders), await redis.zcard(keys.bids(market.id))];
    if (placed !== count + 2 || open > 0) throw new Error(`${placed} orders, ${open} of them open`);
    await untilDone('every match is settled, booked and counted', async () => {
      const { unprocessed, settled, matches, journalSeconds, candlesSeconds } = await look();
      return unprocessed === 0 && settled >= matches && journalSeconds === 0 && candlesSeconds === 0;
    });
    await untilDone('every settlement is final', async () => (await redis.zcard(keys.unsettled)) === 0);
    await markSettled(redis, market.id);
  } finally {
    stopSides([web, worker]);
  }
}

/** The worker moves the mark of what is settled every 30 s; this is the same step at once. */
async function markSettled(redis: Redis, marketId: string): Promise<void> {
  const slotKey = { redis, run: createScripts(redis), keys };
  const matches = createMatches({
    ...slotKey,
    settlements: createSettlements({ ...slotKey, archivedReads: NO_ARCHIVED_READS }),
    archivedReads: NO_ARCHIVED_READS,
  });
  const missing = await matches.unsettled(marketId, {
    nowMs: Date.now(),
    graceMs: 0,
    patienceMs: 0,
    most: 1,
  });
  if (missing.length > 0) throw new Error('a match has no final settlement');
}

/** Archives until Redis has what `isLeft` waits for; orders leave without the minute that they stay in production. */
export async function archiving(
  redis: Redis,
  { url }: TestPostgres,
  isLeft: () => Promise<boolean>,
): Promise<void> {
  const run = createScripts(redis);
  const archive = createArchive({ url });
  let failure: Error | null = null;
  const job = startArchiving({
    forgetting: createForgetting({ redis, run, keys, archive, keepMs: 0 }),
    openSource: () => openSource({ redis, keys, readers: READERS, now: Date.now, keepMs: 0 }),
    onError: (error) => {
      failure = error;
    },
  });
  try {
    await untilDone('the archive has everything', async () => {
      if (failure) throw failure;
      return isLeft();
    });
  } finally {
    await job.stop();
    await archive.close();
  }
}

async function drain(redis: Redis, postgres: TestPostgres, orders: number) {
  await redis.call('CONFIG', 'SET', 'slowlog-log-slower-than', SLOW_MICROS, 'slowlog-max-len', SLOW_KEPT);
  await redis.call('SLOWLOG', 'RESET');
  const ids = await redis.hkeys(keys.markets);
  const wallets = Array.from({ length: WALLETS }, (_, n) => wallet(5e6 + n));
  const [start, redisCpu, ownCpu] = [performance.now(), await redisCpuMicros(redis), process.cpuUsage()];
  // Orders leave behind their matches. Questions about each wallet would be a part of what is measured.
  const isLeft = async () =>
    (await redis.hlen(keys.orders)) === 0 && (await remaining(redis, ids, wallets)) === 0;
  await archiving(redis, postgres, isLeft);
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(ownCpu);
  return {
    orders,
    seconds: round(seconds),
    ordersPerSecond: Math.round(orders / seconds),
    redisMicros: round(((await redisCpuMicros(redis)) - redisCpu) / orders),
    workerMicros: round((user + system) / orders),
    ...(await longestCall(redis)),
  };
}

/** Orders, matches, settlements and lines of journals that are still in Redis. */
export async function remaining(
  redis: Redis,
  ids: readonly string[],
  wallets: readonly string[],
): Promise<number> {
  const found = redis.pipeline().hlen(keys.orders).hlen(keys.settlements).xlen(keys.settlementList);
  for (const id of ids) found.xlen(keys.trades(id));
  for (const address of wallets) found.llen(keys.journal(addressBytes(address)));
  const replies = (await found.exec()) ?? [];
  return replies.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function longestCall(redis: Redis) {
  const names = new Map(
    [...scriptSources()]
      .filter(([name]) => name.startsWith('forget_'))
      .map(([name, source]) => [createHash('sha1').update(source).digest('hex'), name]),
  );
  const slow = (await redis.call('SLOWLOG', 'GET', SLOW_KEPT)) as [number, number, number, string[]][];
  const calls = slow.flatMap(([, , micros, [, sha = '']]) => {
    const name = names.get(sha);
    return name ? [{ micros, name }] : [];
  });
  const longest = calls.reduce((a, b) => (b.micros > a.micros ? b : a), { micros: 0, name: '' });
  return { longestCallMs: longest.micros / 1_000, longestScript: longest.name };
}

export async function untilDone(what: string, isDone: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await isDone())) {
    if (performance.now() > giveUpAt) throw new Error(`not in time: ${what}`);
    await wait(LOOK_MS);
  }
}
