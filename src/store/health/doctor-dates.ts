import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { decodeState } from '../records/market';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';

/** Markets read in one call. */
const STEP = 500;
/** Two readings of a clock may differ by less. */
const AHEAD_OK_MS = 1_000;

/**
 * Checks for data dated in the future: the clock of Redis was ahead when it was written, or was set back since. This does
 * not affect money. But no trade or entry gets a time before its predecessor's, so new ones keep that time until the clock
 * has caught up.
 */
export async function dates(redis: RedisClient, keys: Keys, nowMs: number): Promise<Check> {
  const [entry] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
  const ahead = [
    ['the outbox', Number(entry?.[0].split('-')[0] ?? 0) - nowMs],
    ['the latest trade', (await latestTradeMs(redis, keys)) - nowMs],
  ] as const;
  const wrong = ahead.filter(([, ms]) => ms > AHEAD_OK_MS);
  if (wrong.length === 0) return { name: 'dates', verdict: 'ok', detail: 'nothing is dated ahead of Redis' };
  const named = wrong.map(([what, ms]) => `${what} is dated ${Math.round(ms / 1_000)} s ahead of Redis`);
  const detail = `${named.join(', ')}, whose clock was set back: trades keep that time and candles stand still until it has caught up`;
  return { name: 'dates', verdict: 'fail', detail };
}

async function latestTradeMs(redis: RedisClient, keys: Keys): Promise<number> {
  let latest = 0;
  for await (const [, { lastTradeMs }] of statesOf(redis, keys)) latest = Math.max(latest, lastTradeMs);
  return latest;
}

/** Reads every market's state, without its book. */
export async function* statesOf(redis: RedisClient, keys: Keys): AsyncGenerator<[MarketId, MarketState]> {
  const ids = await redis.lrange(keys.marketList, 0, -1);
  for (let from = 0; from < ids.length; from += STEP) {
    const step = ids.slice(from, from + STEP);
    const states = await Promise.all(step.map((id) => redis.hgetBuffer(keys.market(id), 's')));
    for (const [i, state] of states.entries()) {
      if (state) yield [step[i] ?? '', decodeState([Buffer.from('s'), state])];
    }
  }
}
