import { chainScale } from '../src/exchange/order';
import { micro } from '../src/exchange/units';
import { createSettle } from '../src/jobs/settle';
import { createAudit } from '../src/store/audit/audit';
import type { MatchRef } from '../src/store/records/settlement';
import { shardKeys } from '../src/store/redis/keys';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { createMatches } from '../src/store/settlement/matches';
import { createSettlements } from '../src/store/settlement/settlements';
import { createEngine } from '../src/store/verbs/engine';
import { batched, MARKET, request, wallet } from './engine';

/**
 * Audits ORDERS orders, a fifth of them matched and settled, the others resting. It measures the time, and the longest time
 * that one command blocks Redis (its slow log): alone, and while one process places and cancels orders as fast as it can.
 */
export interface AuditRow {
  readonly op: 'audit' | 'audit under load';
  readonly orders: number;
  readonly fills: number;
  readonly seconds: number;
  readonly longestCommandMs: number;
  readonly otherOrdersPerSecond: number;
  readonly differences: number;
}

const ORDERS = 100_000;
const ROUNDS = 3;
/** No worker settles the trades made meanwhile. */
const GRACE_MS = 3_600_000;
const IN_FLIGHT = 500;
const PER_WALLET = 50;
const SLOW_MICROS = 500;
const SLOW_KEPT = 10_000;
const GRANT = micro(1e13);
const TERMS = {
  id: MARKET.id,
  slug: MARKET.slug,
  conditionId: MARKET.conditionId,
  questionId: '0x',
  oracle: '0x',
  tokenIds: ['1', '2'],
  outcomeNames: ['Yes', 'No'],
  tickPips: 1,
  lotLots: 1,
  minOrderLots: 1,
  feeRateBps: 0,
  createdAtMs: 0,
};

export async function benchAudit(redis: RedisClient, emit: (row: AuditRow) => void): Promise<void> {
  const keys = shardKeys();
  await redis.call('FLUSHALL');
  const run = createScripts(redis);
  const filling = createEngine({ run: createScripts(batched(redis)), grantMicro: GRANT, makersMax: 1000 });
  await filling.createMarket(MARKET, JSON.stringify({ terms: TERMS, texts: {} }), 'OPEN');
  const refs: MatchRef[] = [];
  for (let at = 0; at < ORDERS; at += IN_FLIGHT) {
    const replies = await Promise.all(
      Array.from({ length: IN_FLIGHT }, (_, i) => filling.place(orderOf(at + i))),
    );
    for (const { record, fills } of replies) {
      if (fills.length === 0) continue;
      refs.push({ marketId: MARKET.id, tradeMs: record.fillMs, sequence: record.sequence });
    }
  }
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const scale = chainScale(18);
  const termsOf = async () =>
    TERMS as unknown as Awaited<ReturnType<Parameters<typeof createSettle>[0]['termsOf']>>;
  const settle = createSettle({ matches, settlements, termsOf, scale });
  for (let at = 0; at < refs.length; at += IN_FLIGHT) await settle(refs.slice(at, at + IN_FLIGHT));

  await redis.call('CONFIG', 'SET', 'slowlog-log-slower-than', SLOW_MICROS, 'slowlog-max-len', SLOW_KEPT);
  const audit = createAudit({ redis, run, keys, scale, settlementGraceMs: GRACE_MS });
  for (const op of ['audit', 'audit under load'] as const) {
    const rows: AuditRow[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await redis.call('SLOWLOG', 'RESET');
      const stop = op === 'audit' ? async () => 0 : startLoad(redis);
      const start = performance.now();
      const { checked, differences } = await audit();
      const seconds = (performance.now() - start) / 1e3;
      const others = await stop();
      const slow = (await redis.call('SLOWLOG', 'GET', SLOW_KEPT)) as [number, number, number][];
      rows.push({
        op,
        orders: checked.orders,
        fills: checked.fills,
        seconds: Math.round(seconds * 100) / 100,
        longestCommandMs: Math.max(0, ...slow.map(([, , micros]) => micros)) / 1_000,
        otherOrdersPerSecond: Math.round(others / seconds),
        differences: differences.length,
      });
    }
    // The slow log counts by the clock. The steps are the same each time, so the quietest round shows their true time.
    const longestCommandMs = Math.min(...rows.map((row) => row.longestCommandMs));
    const [quickest] = rows.sort((a, b) => a.seconds - b.seconds);
    if (quickest) emit({ ...quickest, longestCommandMs });
  }
}

/** One in five meets the one before it; the others meet none. */
function orderOf(n: number) {
  const maker = wallet(Math.floor(n / PER_WALLET));
  if (n % 10 === 8) return request(maker, 'bid', 5_000, 100);
  if (n % 10 === 9) return request(wallet(Math.floor(n / PER_WALLET) + 1), 'ask', 5_000, 100);
  return n % 2
    ? request(maker, 'bid', 100 + (n % 30) * 100, 100)
    : request(maker, 'ask', 7_100 + (n % 29) * 100, 100);
}

/** Sends orders that meet each other or are cancelled, without a pause; resolves with their number. */
function startLoad(redis: RedisClient): () => Promise<number> {
  const engine = createEngine({ run: createScripts(redis), grantMicro: GRANT, makersMax: 1000 });
  let [count, isOver] = [0, false];
  const running = (async () => {
    for (let n = ORDERS; !isOver; n += 10) {
      const orders = Array.from({ length: 10 }, (_, i) => orderOf(n + i));
      await Promise.all(orders.map((order) => engine.place(order)));
      await Promise.all(
        orders.slice(0, 5).map(({ maker, orderHash }) => engine.cancel(MARKET.id, maker, orderHash, 'USER')),
      );
      count += orders.length;
    }
  })();
  return async () => {
    isOver = true;
    await running;
    return count;
  };
}
