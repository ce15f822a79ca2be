import type { ArchivedReads } from '../archive/archived-reads';
import { decodeOrder, hashBytes, type OrderRecord } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** Records read in one call. */
const READ_MAX = 500;

export type OrderRecords = (orderHashes: readonly string[]) => Promise<ReadonlyMap<string, OrderRecord>>;

/** Reads the present records of many orders, by hash, without their fills. */
export function createOrderRecords({
  redis,
  keys,
  archivedReads,
}: {
  redis: RedisClient;
  keys: Keys;
  archivedReads: ArchivedReads;
}): OrderRecords {
  return async (orderHashes) => {
    const found = new Map<string, OrderRecord>();
    for (let from = 0; from < orderHashes.length; from += READ_MAX) {
      const part = orderHashes.slice(from, from + READ_MAX);
      const packed = await redis.hmgetBuffer(keys.orders, ...part.map(hashBytes));
      for (const [i, hash] of part.entries()) {
        const record = packed[i];
        if (record) found.set(hash, decodeOrder(hash, record));
      }
    }
    const gone = await archivedReads.records(orderHashes.filter((hash) => !found.has(hash)));
    for (const [hash, record] of gone) found.set(hash, record);
    return found;
  };
}
