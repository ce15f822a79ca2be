import type { MarketId } from '../../exchange/market';
import { lots, micro, pips } from '../../exchange/units';
import { INTERVALS_MS, MINUTE_MS, type Tally } from '../records/candle';
import { readUInt } from '../records/layout';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** start in minutes I4, open, high, low, close I2 each, money I7. */
const FORMER_BYTES = 19;
/** The most minutes before a first match that are taken over: those of a week. */
const MINUTES_MAX = 10_080;

/**
 * The candles of layout 1, which contained neither shares nor trades. The matches give all of this again, except the
 * minutes before a market's first match that a demonstration invented; only these are taken over.
 */
export function createFormerCandles({ redis, keys }: { redis: RedisClient; keys: ShardKeys }) {
  /** Returns the minutes before the first match. */
  async function invented(id: MarketId): Promise<Tally[]> {
    const series = keys.formerCandles(id, MINUTE_MS / 1_000);
    const packed = await redis.getrangeBuffer(series, 0, MINUTES_MAX * FORMER_BYTES - 1);
    const minutes: Tally[] = [];
    for (let at = 0; at + FORMER_BYTES <= packed.length && readUInt(packed, at + 12, 7) === 0; ) {
      minutes.push(inventedAt(packed, at));
      at += FORMER_BYTES;
    }
    return minutes;
  }

  /** Deletes series and mark together: a program of layout 1 that still runs counts again from the beginning, correctly. */
  async function drop(id: MarketId): Promise<void> {
    const series = INTERVALS_MS.map((intervalMs) => keys.formerCandles(id, intervalMs / 1_000));
    await redis
      .multi()
      .unlink(...series)
      .hdel(keys.formerCandleMarks, id)
      .exec();
  }

  return { markets: () => redis.hkeys(keys.formerCandleMarks), invented, drop };
}

const inventedAt = (packed: Buffer, at: number): Tally => ({
  startMs: packed.readUInt32BE(at) * MINUTE_MS,
  open: pips(packed.readUInt16BE(at + 4)),
  high: pips(packed.readUInt16BE(at + 6)),
  low: pips(packed.readUInt16BE(at + 8)),
  close: pips(packed.readUInt16BE(at + 10)),
  totalMicro: micro(0),
  totalLots: lots(0),
  totalTrades: 0,
});
