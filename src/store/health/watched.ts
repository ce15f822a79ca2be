import { holderOf } from '../redis/holder';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Check } from './doctor';
import { epoch } from './doctor-epoch';
import { examineFilling } from './doctor-memory';
import { outbox } from './doctor-outbox';
import { infoOf } from './info';
import { examineRuns } from './runs';

/** Whether a worker holds the lease of settlement, which every worker takes within seconds. */
export async function worker(redis: RedisClient, keys: Keys): Promise<Check> {
  const [leases, markets] = await Promise.all([redis.exists(keys.relayLease), redis.exists(keys.markets)]);
  const name = 'worker';
  if (leases > 0) return { name, verdict: 'ok', detail: 'one is at work' };
  if (markets === 0) return { name, verdict: 'ok', detail: 'none is at work, and no market is there' };
  const detail = 'none is at work: orders do not expire, markets do not close, trades do not settle';
  return { name, verdict: 'warn', detail };
}

/** What the console shows an operator: each that is not ok is a line there. */
export async function examineWatched(
  redis: RedisClient,
  partitions: readonly Keys[],
  /** Those of the outbox. */
  readers: readonly string[],
  nowMs: number,
): Promise<readonly Check[]> {
  const [first] = partitions;
  const checksOf = async (keys: Keys, partition: number): Promise<readonly Check[]> => {
    const checks = [
      await epoch(redis, keys, nowMs),
      await worker(redis, keys),
      await outbox({ redis, keys, readers }, nowMs),
      ...examineFilling(await infoOf(holderOf(redis, keys))),
    ];
    return partitions.length === 1
      ? checks
      : checks.map((check) => ({ ...check, name: `${check.name}-${partition}` }));
  };
  const [inEach, runs] = await Promise.all([
    Promise.all(partitions.map(checksOf)),
    first ? examineRuns({ redis, keys: first }, nowMs) : [],
  ]);
  return [...inEach.flat(), ...runs];
}
