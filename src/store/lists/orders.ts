import { Refusal } from '../../exchange/errors';
import { decodeOrder, hashBytes, type OrderRecord } from '../records/order';
import { readFields } from '../redis/fields';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { withArchive } from './list';

interface OrderRecordsOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archivedReads: { readonly records: OrderRecords };
}

/** An order as it was found; one that has left Redis is in the archive, with all of its matches. */
export interface FoundOrder {
  readonly record: OrderRecord;
  readonly hasLeft: boolean;
}

/** Some of the orders were not found, and may be in a partition that does not answer; `found` has the others. */
export class PartlyFound extends Refusal {
  constructor(readonly found: ReadonlyMap<string, OrderRecord>) {
    super('UNAVAILABLE', 'a part of the exchange that may have one of these orders is silent; retry');
  }
}

/** The records of orders, by hash. Throws PartlyFound. */
export type OrderRecords = (orderHashes: readonly string[]) => Promise<ReadonlyMap<string, OrderRecord>>;

/** Reads the present records of many orders, without their fills; null for an order that does not exist. */
export function createFoundOrders({ redis, keys, archivedReads }: OrderRecordsOptions) {
  async function here(orderHashes: readonly string[]): Promise<(FoundOrder | null)[]> {
    const packed = await readFields(redis, keys.orders, orderHashes.map(hashBytes));
    return orderHashes.map((hash, i) => {
      const record = packed[i];
      return record ? { record: decodeOrder(hash, record), hasLeft: false } : null;
    });
  }

  async function archived(orderHashes: readonly string[]): Promise<ReadonlyMap<string, FoundOrder>> {
    const left = await archivedReads.records(orderHashes);
    return new Map([...left].map(([hash, record]) => [hash, { record, hasLeft: true }]));
  }

  return withArchive(here, archived, (hash) => hash);
}

/** The same by hash; an order that does not exist is missing. */
export function createOrderRecords(options: OrderRecordsOptions): OrderRecords {
  const read = createFoundOrders(options);
  return async (orderHashes) =>
    new Map((await read(orderHashes)).flatMap((one) => (one ? [[one.record.orderHash, one.record]] : [])));
}
