import { isFinal } from '../../exchange/status';
import { addressBytes, hashBytes } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { AuditedOrder, Snapshot } from './snapshot';

interface ForgottenOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly onStep: () => Promise<void>;
}

const STEP = 500;

/**
 * An order that left Redis for the archive between the reading of the records and that of the wallets' indexes is in the snapshot
 * without a place in its index. It left both at once, so one that is in either of them now did not leave.
 */
export async function dropForgotten(
  { redis, keys, onStep }: ForgottenOptions,
  snapshot: Snapshot,
): Promise<void> {
  const doubtful = [...snapshot.orders.values()].filter(
    ({ rank, status }) => rank === null && isFinal(status),
  );
  for (let from = 0; from < doubtful.length; from += STEP) {
    const part = doubtful.slice(from, from + STEP);
    const isHere = await Promise.all(part.map(stored));
    for (const [i, { orderHash }] of part.entries()) if (!isHere[i]) snapshot.dropOrder(orderHash);
    await onStep();
  }

  async function stored({ orderHash, maker }: AuditedOrder): Promise<boolean> {
    const hash = hashBytes(orderHash);
    const [record, score] = await Promise.all([
      redis.hexists(keys.orders, hash),
      redis.zscore(keys.wallet(addressBytes(maker)), hash),
    ]);
    return record === 1 || score !== null;
  }
}
