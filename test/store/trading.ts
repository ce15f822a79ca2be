import { randomBytes } from 'node:crypto';
import type { MarketId, MarketTerms } from '../../src/exchange/market';
import { lots, micro, pips } from '../../src/exchange/units';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { historyWindow, type presentHistory, type Timeframe } from '../../src/wire/answers/history';
import type { Random } from '../support/random';
import { READY_MS } from '../support/waiting';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The connection of a process, with the parts of the store on it. */
export async function openStore(url: string) {
  const redis = connect({ urls: [url] });
  await ready(redis, READY_MS);
  return {
    redis,
    run: createScripts(redis),
    keys: createKeys(),
    doubts: () => 0,
    stop: () => disconnect(redis),
  };
}
export type Store = Awaited<ReturnType<typeof openStore>>;

/** A fill as in a list of trades: in Yes, its volume in the taker's token. */
export interface Trade {
  readonly ms: number;
  readonly yesPips: number;
  readonly lots: number;
  readonly valueMicro: bigint;
}

/** A market that only trades: matches are written to its stream, with given times. */
export function createMarket({ redis, keys }: Store, id: MarketId) {
  const trades: Trade[] = [];
  let sequence = 0;

  /** One match with some random fills, as lua/lib/trades.lua packs it. */
  async function match(random: Random, ms: number): Promise<void> {
    const outcome = random.int(0, 1);
    const count = random.chance(0.1) ? random.int(2, 6) : 1;
    const head = Buffer.concat([randomBytes(32), Buffer.from([random.int(0, 1), outcome, 0, count])]);
    const fills = Array.from({ length: count }, () => {
      const ownPips = random.int(1, 9_999);
      // Up to 10^10 micro-units a fill, so that sums exceed 32 bits.
      const sizeLots = random.int(1, 1_000_000);
      trades.push({
        ms,
        yesPips: outcome === 0 ? ownPips : 10_000 - ownPips,
        lots: sizeLots,
        valueMicro: BigInt(ownPips) * BigInt(sizeLots),
      });
      const fill = Buffer.alloc(67);
      fill.writeUInt16BE(ownPips, 32);
      fill.writeUIntBE(sizeLots, 34, 6);
      return fill;
    });
    await redis.xadd(keys.trades(id), `${ms}-${++sequence}`, 'f', Buffer.concat([head, ...fills]));
  }

  /** Its place among the markets; its text does not matter here. */
  const list = () => redis.hset(keys.markets, id, '{}');
  /** The number that its hash would count. */
  const state = () => ({
    volumeMicro: micro(Number(trades.reduce((sum, { valueMicro }) => sum + valueMicro, 0n))),
    lastPips: trades.length === 0 ? null : pips(trades.at(-1)?.yesPips ?? 0),
    lastTradeMs: trades.at(-1)?.ms ?? 0,
  });
  return { id, trades, match, list, state };
}
export type TradingMarket = ReturnType<typeof createMarket>;

/** Moments of trades: bursts, ordinary minutes, quiet hours and days. */
export function nextMs(random: Random, ms: number): number {
  const pause = random.weighted({ none: 10, seconds: 40, minutes: 20, hours: 2, days: 0.1 });
  if (pause === 'none') return ms;
  if (pause === 'seconds') return ms + random.int(1, 20_000);
  if (pause === 'minutes')
    return ms + random.int(1, 20) * MINUTE_MS - (random.chance(0.3) ? ms % MINUTE_MS : 0);
  return ms + (pause === 'hours' ? random.int(1, 7) * HOUR_MS : random.int(1, 3) * DAY_MS);
}

export const TERMS: MarketTerms = {
  id: 'history1',
  slug: 'history',
  conditionId: '0x',
  questionId: '0x',
  oracle: '0x',
  tokenIds: ['1', '2'],
  outcomeNames: ['Yes', 'No'],
  tickPips: pips(1),
  lotLots: lots(1),
  minOrderLots: lots(1),
  feeRateBps: 0,
  createdAtMs: 0,
};

type Shown = ReturnType<typeof presentHistory>;

/** A timeframe computed from the list of trades: a walk over its buckets. */
export function expectedCandles(
  trades: readonly Trade[],
  timeframe: Timeframe,
  nowMs: number,
): Shown['candles'] {
  const { fromMs, lastMs, bucketMs } = historyWindow(timeframe, nowMs);
  return expectedBuckets(trades, bucketMs, fromMs, lastMs).map(({ v: _, n: __, money, ...candle }) => ({
    ...candle,
    v: money,
  }));
}

/** Every bucket from `fromMs` to `lastMs` that has a price, in Yes: a walk over all of them. */
export function expectedBuckets(trades: readonly Trade[], bucketMs: number, fromMs: number, lastMs: number) {
  const firstMs = trades[0]?.ms ?? Number.POSITIVE_INFINITY;
  const out: (Shown['candles'][number] & { n: number; money: string })[] = [];
  let at = 0;
  let price: number | null = null;
  const begin = Math.floor(Math.min(firstMs, lastMs) / bucketMs) * bucketMs;
  for (let startMs = begin; startMs <= lastMs; startMs += bucketMs) {
    const prices: number[] = [];
    let volume = 0n;
    let shares = 0;
    for (; (trades[at]?.ms ?? Number.POSITIVE_INFINITY) < startMs + bucketMs; at++) {
      prices.push(trades[at]?.yesPips ?? 0);
      volume += trades[at]?.valueMicro ?? 0n;
      shares += trades[at]?.lots ?? 0;
    }
    const open: number | null = prices[0] ?? price;
    const close: number | null = prices.at(-1) ?? price;
    price = close;
    if (startMs < fromMs || open === null || close === null) continue;
    out.push({
      t: startMs / 1_000,
      o: decimal(open, 4),
      h: decimal(Math.max(open, ...prices), 4),
      l: decimal(Math.min(open, ...prices), 4),
      c: decimal(close, 4),
      v: decimal(shares, 2),
      n: prices.length,
      money: decimal(volume, 6),
    });
  }
  return out;
}

/** Volume of the minutes that began in the 24 hours before, and the last price before them (or the first of all). */
export function expectedDay(trades: readonly Trade[], nowMs: number) {
  const isRecent = ({ ms }: Trade): boolean => ms - (ms % MINUTE_MS) >= nowMs - DAY_MS;
  const volume = trades.filter(isRecent).reduce((sum, { valueMicro }) => sum + valueMicro, 0n);
  const before = trades.findLast((trade) => !isRecent(trade)) ?? trades[0];
  return { volumeMicro: Number(volume), openPips: before?.yesPips ?? null };
}

function decimal(scaled: number | bigint, decimals: number): string {
  const digits = scaled.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}
