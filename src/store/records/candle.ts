import type { Candle } from '../../exchange/facts';
import { yesPrice } from '../../exchange/match';
import { type Lots, lots, type Micro, micro, type Pips, pips } from '../../exchange/units';
import { readUInt, writeUInt } from './layout';
import { decodeFills, type Fill } from './order';

/**
 * The trading of a market from its first trade up to a moment: money (taker price x size), shares, and trades. Each total
 * stops at the largest exact number, as the market's own volume does (lua/lib/book.lua).
 */
export interface Totals {
  readonly totalMicro: Micro;
  readonly totalLots: Lots;
  readonly totalTrades: number;
}

/**
 * Candles as they are counted and stored. A stored candle contains the market's totals up to its end instead of its own. So
 * its volume is the difference to the candle before, and the volume since any minute is one subtraction from the market's
 * counter, which makes the 24 hours of a list of markets cheap and exact.
 */
export interface Tally extends Totals {
  /** A multiple of its series' interval. */
  readonly startMs: number;
  readonly open: Pips;
  readonly high: Pips;
  readonly low: Pips;
  readonly close: Pips;
}

/** The last match of a market that its series contain. */
export interface Mark extends Totals {
  /** Raised by each rebuild, so that a writer that read the series before it cannot write after it. */
  readonly generation: number;
  readonly lastMs: number;
  readonly lastSequence: number;
}

export type MatchEntry = readonly [id: Buffer, fields: readonly Buffer[]];

export const MINUTE_MS = 60_000;
/**
 * Stored series. The minutes would be enough; the others save a reader of a month or of everything from reading all
 * minutes, for a thirtieth more memory. Each interval is a multiple of the one before.
 */
export const INTERVALS_MS = [MINUTE_MS, 30 * MINUTE_MS, 720 * MINUTE_MS] as const;

/** Money I7, shares I7, trades I6. */
const TOTALS_BYTES = 20;
/** start in minutes I4, open, high, low, close I2 each, totals. lua/read_candles.lua uses the size. */
export const CANDLE_BYTES = 12 + TOTALS_BYTES;
const GENERATIONS = 0x10000;
/** generation I2, last match counted (ms I6, sequence I6), totals. */
const MARK_BYTES = 14 + TOTALS_BYTES;
export const NO_TOTALS: Totals = { totalMicro: micro(0), totalLots: lots(0), totalTrades: 0 };
const NOTHING: Mark = { generation: 0, lastMs: 0, lastSequence: 0, ...NO_TOTALS };

/** The coarsest stored series from which buckets of `bucketMs` can be made. */
export function intervalFor(bucketMs: number): number {
  return INTERVALS_MS.findLast((interval) => bucketMs % interval === 0) ?? MINUTE_MS;
}

/** Counts matches into minutes, in place: `minutes` may end with the minute in which the matches continue. */
export function countMatches(minutes: Tally[], entries: readonly MatchEntry[], mark: Mark): Mark {
  let now = mark;
  for (const [id, [, packed]] of entries) {
    const [lastMs = 0, lastSequence = 0] = id.toString('latin1').split('-').map(Number);
    let totals: Totals = now;
    for (const fill of decodeFills(lastMs, lastSequence, packed ?? Buffer.alloc(0))) {
      const price = yesPrice(fill.pricePips, fill.takerOutcome);
      totals = withFill(totals, fill);
      push(minutes, MINUTE_MS, flatTally(lastMs, price, totals));
    }
    now = { ...now, ...totals, lastMs, lastSequence };
  }
  return now;
}

const withFill = ({ totalMicro, totalLots, totalTrades }: Totals, fill: Fill): Totals => ({
  totalMicro: micro(Math.min(totalMicro + fill.pricePips * fill.sizeLots, Number.MAX_SAFE_INTEGER)),
  totalLots: lots(Math.min(totalLots + fill.sizeLots, Number.MAX_SAFE_INTEGER)),
  totalTrades: totalTrades + 1,
});

const flatTally = (startMs: number, price: Pips, { totalMicro, totalLots, totalTrades }: Totals): Tally => ({
  startMs,
  open: price,
  high: price,
  low: price,
  close: price,
  totalMicro,
  totalLots,
  totalTrades,
});

/** The mark of series that replace those of `mark`. */
export const nextGeneration = (mark: Mark): number => (mark.generation + 1) % GENERATIONS;

/** The mark before anything is counted. */
export const startOf = (generation: number): Mark => ({ ...NOTHING, generation });

/** Converts candles, oldest first, to those of a coarser interval. */
export function rollUp(candles: readonly Tally[], intervalMs: number): Tally[] {
  const out: Tally[] = [];
  for (const candle of candles) push(out, intervalMs, candle);
  return out;
}

function push(out: Tally[], intervalMs: number, next: Tally): void {
  const startMs = next.startMs - (next.startMs % intervalMs);
  const last = out.at(-1);
  if (last?.startMs !== startMs) out.push({ ...next, startMs });
  else {
    out[out.length - 1] = {
      ...next,
      startMs,
      open: last.open,
      high: pips(Math.max(last.high, next.high)),
      low: pips(Math.min(last.low, next.low)),
    };
  }
}

/** Adds the trading of each candle; the first one has that of the market from its beginning. */
export function withVolumes(tallies: readonly Tally[]): Candle[] {
  return tallies.map(({ startMs, open, high, low, close, ...totals }, i) => {
    const before = tallies[i - 1] ?? NO_TOTALS;
    return {
      startMs,
      open,
      high,
      low,
      close,
      volumeMicro: micro(totals.totalMicro - before.totalMicro),
      sizeLots: lots(totals.totalLots - before.totalLots),
      trades: totals.totalTrades - before.totalTrades,
    };
  });
}

export function packCandles(candles: readonly Tally[]): Buffer {
  const packed = Buffer.allocUnsafe(candles.length * CANDLE_BYTES);
  let at = 0;
  for (const { startMs, open, high, low, close, ...totals } of candles) {
    at = packed.writeUInt32BE(startMs / MINUTE_MS, at);
    for (const price of [open, high, low, close]) at = packed.writeUInt16BE(price, at);
    at = writeTotals(packed, totals, at);
  }
  return packed;
}

export function unpackCandles(packed: Buffer): Tally[] {
  return Array.from({ length: packed.length / CANDLE_BYTES }, (_, i) => {
    const at = i * CANDLE_BYTES;
    return {
      startMs: packed.readUInt32BE(at) * MINUTE_MS,
      open: pips(packed.readUInt16BE(at + 4)),
      high: pips(packed.readUInt16BE(at + 6)),
      low: pips(packed.readUInt16BE(at + 8)),
      close: pips(packed.readUInt16BE(at + 10)),
      ...readTotals(packed, at + 12),
    };
  });
}

export function packMark({ generation, lastMs, lastSequence, ...totals }: Mark): Buffer {
  const packed = Buffer.allocUnsafe(MARK_BYTES);
  packed.writeUInt16BE(generation, 0);
  packed.writeUIntBE(lastMs, 2, 6);
  packed.writeUIntBE(lastSequence, 8, 6);
  writeTotals(packed, totals, 14);
  return packed;
}

/** An empty mark means that the market has no counted match yet. */
export function unpackMark(packed: Buffer): Mark {
  if (packed.length === 0) return NOTHING;
  return {
    generation: packed.readUInt16BE(0),
    lastMs: packed.readUIntBE(2, 6),
    lastSequence: packed.readUIntBE(8, 6),
    ...readTotals(packed, 14),
  };
}

function writeTotals(packed: Buffer, { totalMicro, totalLots, totalTrades }: Totals, at: number): number {
  const next = writeUInt(packed, totalLots, writeUInt(packed, totalMicro, at, 7), 7);
  return packed.writeUIntBE(totalTrades, next, 6);
}

const readTotals = (packed: Buffer, at: number): Totals => ({
  totalMicro: micro(readUInt(packed, at, 7)),
  totalLots: lots(readUInt(packed, at + 7, 7)),
  totalTrades: readUInt(packed, at + 14, 6),
});
