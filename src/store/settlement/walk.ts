import type { OrderRecord } from '../records/order';
import { decodeSettlement, type SettlementRecord, settlementKey } from '../records/settlement';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Settlements, SettlementsFilter } from './settlements';

interface WalkOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly settlements: Settlements;
}

/** Records read in one step, with up to 51 orders each. */
const STEP = 100;

export interface WalkedSettlement {
  readonly record: SettlementRecord;
  /** The orders that the record names, by hash. */
  readonly orders: ReadonlyMap<string, OrderRecord>;
}

/** Every settlement that matches the filter, oldest first, which is the order in which a chain should receive them. */
export async function* walkSettlements(
  { redis, keys, settlements }: WalkOptions,
  { status, marketId }: SettlementsFilter,
): AsyncGenerator<WalkedSettlement> {
  const list = marketId === undefined ? keys.settlementList : keys.settlementListOf(marketId);
  let from = '-';
  for (;;) {
    const entries = await redis.xrangeBuffer(list, from, '+', 'COUNT', STEP);
    const names = entries.map(([, fields]) => fields[1] as Buffer);
    const stored = await settlements.packed(names);
    const records = names.flatMap((name, i) => {
      const packed = stored[i];
      const record = packed && decodeSettlement(settlementKey(name), packed);
      return record && (status === undefined || record.settlementStatus === status) ? [record] : [];
    });
    const orders = await settlements.ordersOf(records);
    for (const record of records) yield { record, orders };
    if (entries.length < STEP) return;
    from = `(${entries.at(-1)?.[0].toString()}`;
  }
}
