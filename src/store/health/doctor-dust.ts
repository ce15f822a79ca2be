import type { MarketId } from '../../exchange/market';
import { LOTS_PER_SHARE } from '../../exchange/units';
import { decodeMarket } from '../records/market';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';
import { statesOf } from './doctor-dates';

/** Markets read in one call. */
const STEP = 500;
/** Markets that the message names. */
const TOLD_MAX = 5;

/**
 * Checks whether dust can rest in an open market: orders of less than a share cost next to nothing, and many of them use up
 * the makers that one submission may meet before it is filled.
 */
export async function dust(redis: RedisClient, keys: Keys): Promise<Check> {
  const open: MarketId[] = [];
  for await (const [id, { status }] of statesOf(redis, keys)) if (status === 'OPEN') open.push(id);
  const found: MarketId[] = [];
  for (let from = 0; from < open.length; from += STEP) {
    const step = open.slice(from, from + STEP);
    const documents = await redis.hmgetBuffer(keys.markets, ...step);
    found.push(...step.filter((_, i) => allowsDust(documents[i] ?? null)));
  }
  if (found.length === 0)
    return { name: 'dust', verdict: 'ok', detail: 'no open market takes less than a share' };
  const more = found.length > TOLD_MAX ? `, and ${found.length - TOLD_MAX} more` : '';
  const detail = `${found.slice(0, TOLD_MAX).join(', ')}${more}: orders below one share can use up MATCH_MAKERS_MAX and slow takers down; list such markets with minOrderSize 1`;
  return { name: 'dust', verdict: 'warn', detail };
}

/** The audit reports a document that cannot be read. */
function allowsDust(document: Buffer | null): boolean {
  try {
    return document !== null && decodeMarket(document).terms.minOrderLots < LOTS_PER_SHARE;
  } catch {
    return false;
  }
}
