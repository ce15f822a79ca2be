import type { MarketId } from '../../../exchange/market';
import { CANDLE_BYTES, INTERVALS_MS, type Mark, unpackMark } from '../../../store/records/candle';
import { decodePayouts } from '../../../store/records/market';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { type ArchivedPart, type Batch, NOTHING } from '../archive';
import { Fenced } from './forgetting';

interface MarketOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  /** By the clock of Redis. */
  readonly now: () => number;
  /** Adds the next batch to the archive, and returns its number. */
  readonly commit: (rows: Batch) => Promise<number>;
  /** How long a market stays after its holders were paid. */
  readonly keepMs?: number;
}

/** A market that ended is looked at often in the days after. */
export const MARKET_KEEP_MS = 30 * 86_400_000;
/** Candles of one row of the archive: 32 kB. */
export const CANDLES_PER_ROW = 1_000;
const MARKETS_STEP = 200;
/** Markets of one call: the lease must not run out meanwhile. */
const MARKETS_MAX = 20;
/** After a look at all markets. */
const PAUSE_MS = 600_000;

/** The name of a series among the parts of a market. A rebuild of the candles raises the generation. */
export const seriesPart = (intervalMs: number, { generation }: Pick<Mark, 'generation'>): string =>
  `k${intervalMs / 1_000}.${generation}`;

interface Ended {
  readonly id: MarketId;
  readonly paidAtMs: number;
}

/**
 * Takes markets that ended long ago out of Redis, one batch each: their candles go into the archive (src/extensions/archive/lua/forget_market.lua). The
 * market itself stays, with its result, its payouts and its comments.
 */
export function createMarketForgetting(options: MarketOptions) {
  const { redis, run, keys, now, commit, keepMs = MARKET_KEEP_MS } = options;

  let lookedAtMs = Number.NEGATIVE_INFINITY;

  /** Takes out the next of them. Returns how many. Throws Fenced. */
  async function forgetEnded(token: string): Promise<number> {
    if (now() - lookedAtMs < PAUSE_MS) return 0;
    const ids = await redis.hkeys(keys.markets);
    let gone = 0;
    for (let from = 0; from < ids.length; from += MARKETS_STEP) {
      for (const ended of await due(ids.slice(from, from + MARKETS_STEP))) {
        gone += await forget(token, ended);
        if (gone === MARKETS_MAX) return gone;
      }
    }
    lookedAtMs = now();
    return gone;
  }

  /** Markets that were paid long enough ago, have no matches here, and still have something to archive. */
  async function due(ids: readonly MarketId[]): Promise<Ended[]> {
    const found = await Promise.all(
      ids.map(async (id): Promise<Ended[]> => {
        const packed = await redis.hgetBuffer(keys.market(id), 'r');
        const paidAtMs = packed ? decodePayouts(packed).paidAtMs : 0;
        if (paidAtMs === 0 || paidAtMs + keepMs > now()) return [];
        const [matches, updates, ...series] = await Promise.all([
          redis.xlen(keys.trades(id)),
          redis.xlen(keys.updates(id)),
          ...INTERVALS_MS.map((intervalMs) => redis.strlen(keys.candles(id, intervalMs / 1_000))),
        ]);
        const isFull = updates > 1 || series.some((bytes) => bytes > 0);
        return matches === 0 && isFull ? [{ id, paidAtMs }] : [];
      }),
    );
    return found.flat();
  }

  async function forget(token: string, { id, paidAtMs }: Ended): Promise<number> {
    // Every writer of candles changes the mark, so with the same mark they are those that are read here.
    const mark = (await redis.hgetBuffer(keys.candleMarks, id)) ?? Buffer.alloc(0);
    const parts: ArchivedPart[] = [];
    for (const intervalMs of INTERVALS_MS) {
      const row = { marketId: id, part: seriesPart(intervalMs, unpackMark(mark)), atMs: paidAtMs };
      parts.push(...(await rowsOf(keys.candles(id, intervalMs / 1_000), row)));
    }
    const batch = await commit({ ...NOTHING, parts });
    const forgotten = await run(
      'forget_market',
      [
        ...([keys.market(id), keys.trades(id), keys.settlementListOf(id), keys.updates(id)] as const),
        ...([keys.candleMarks, keys.archive, keys.archiveLease, keys.mode] as const),
        ...INTERVALS_MS.map((intervalMs) => keys.candles(id, intervalMs / 1_000)),
      ],
      [id, token, batch, keepMs, mark],
    );
    if (forgotten < 0) throw new Fenced();
    return forgotten;
  }

  /** A row begins with its first candle, by whose start it is found. */
  async function rowsOf(
    key: string,
    row: Pick<ArchivedPart, 'marketId' | 'part' | 'atMs'>,
  ): Promise<ArchivedPart[]> {
    const rows: ArchivedPart[] = [];
    for (let from = 0; ; from += CANDLES_PER_ROW * CANDLE_BYTES) {
      const value = await redis.getrangeBuffer(key, from, from + CANDLES_PER_ROW * CANDLE_BYTES - 1);
      if (value.length === 0) return rows;
      rows.push({ ...row, name: value.subarray(0, START_BYTES), value });
    }
  }

  return { forgetEnded };
}

/** A candle opens with its start in minutes, I4. */
const START_BYTES = 4;

/** The name that a row has whose first candle starts at this minute. */
export function rowName(minute: number): Buffer {
  const name = Buffer.alloc(START_BYTES);
  name.writeUInt32BE(Math.max(0, minute));
  return name;
}
