import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';
import { lossOf } from './durability';

/** Age up to which the doctor reports a new epoch. */
const NEW_MS = 86_400_000;

/** Whether acknowledged writes may be missing. */
export async function epoch(redis: RedisClient, keys: Keys, nowMs: number): Promise<Check> {
  const name = 'epoch';
  const [epochName, first, since, lost] = await redis.hmget(keys.epoch, 'name', 'first', 'since', 'lost');
  const loss = lossOf({ lostMs: lost ? Number(lost) : null });
  if (loss !== null) return { name, verdict: 'fail', detail: loss };
  if (!epochName) return { name, verdict: 'ok', detail: 'no process has started yet' };
  if (first) return { name, verdict: 'ok', detail: 'the first of this data' };
  const sinceMs = Number(since ?? 0);
  const isNew = nowMs - sinceMs < NEW_MS;
  const detail = `begun at ${new Date(sinceMs).toISOString()}: what was answered before may be missing`;
  return { name, verdict: isNew ? 'warn' : 'ok', detail: sinceMs === 0 ? 'not the first' : detail };
}
