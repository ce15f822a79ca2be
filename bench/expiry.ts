import { lots, micro } from '../src/exchange/units';
import { shardKeys } from '../src/store/redis/keys';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { createEngine } from '../src/store/verbs/engine';
import { batched, MARKET, request, wallet } from './engine';

/**
 * Expires ORDERS orders of the same second, as the worker does. It measures the time, and the longest time that one call
 * blocks Redis (its slow log, which counts the script's own time).
 */
export interface ExpiryRow {
  readonly op: 'expire';
  readonly orders: number;
  readonly seconds: number;
  readonly calls: number;
  readonly longestCallMs: number;
  readonly microsPerOrder: number;
}

const ORDERS = 100_000;
const IN_FLIGHT = 500;
const PER_WALLET = 100;
const LIFE_SEC = 12;
const SLOW_MICROS = 500;
const SLOW_KEPT = 10_000;

export async function benchExpiry(redis: RedisClient, emit: (row: ExpiryRow) => void): Promise<void> {
  const keys = shardKeys();
  await redis.call('FLUSHALL');
  const filling = createEngine({
    run: createScripts(batched(redis)),
    grantMicro: micro(1e14),
    makersMax: 1000,
  });
  await filling.createMarket(MARKET, '{}', 'OPEN');
  const expirationSec = Math.ceil(Date.now() / 1_000) + LIFE_SEC;
  for (let at = 0; at < ORDERS; at += IN_FLIGHT) {
    const place = (i: number) => {
      const n = at + i;
      const side = n % 2 ? 'bid' : 'ask';
      const price = n % 2 ? 100 + (n % 30) * 100 : 7_100 + (n % 29) * 100;
      return filling.place({
        ...request(wallet(Math.floor(n / PER_WALLET)), side, price, lots(100)),
        expirationSec,
      });
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, (_, i) => place(i)));
  }
  while (Date.now() < expirationSec * 1_000) await new Promise((resolve) => setTimeout(resolve, 20));
  await redis.call('CONFIG', 'SET', 'slowlog-log-slower-than', SLOW_MICROS, 'slowlog-max-len', SLOW_KEPT);
  await redis.call('SLOWLOG', 'RESET');
  const engine = createEngine({ run: createScripts(redis), grantMicro: micro(1e14), makersMax: 1000 });
  const start = process.hrtime.bigint();
  let calls = 0;
  let expired = 0;
  for (let more = true; more; calls++) {
    const step = await engine.expire();
    expired += step.expired;
    more = step.waiting;
  }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const left = Number(await redis.call('ZCARD', keys.expiries));
  if (expired !== ORDERS || left > 0) throw new Error(`${expired} expired, ${left} left`);
  const slow = (await redis.call('SLOWLOG', 'GET', SLOW_KEPT)) as [number, number, number][];
  const longest = Math.max(0, ...slow.map(([, , micros]) => micros));
  emit({
    op: 'expire',
    orders: ORDERS,
    seconds: Math.round(seconds * 100) / 100,
    calls,
    longestCallMs: longest / 1_000,
    microsPerOrder: Math.round((seconds * 1e7) / ORDERS) / 10,
  });
}
