import { aboveListed, FIRST_LISTED, LAST_LISTED } from '../lists/places';
import type { OrderRecord } from '../records/order';
import { decodeSettlement, type SettlementRecord } from '../records/settlement';
import type { Settlements, SettlementsFilter } from './settlements';

/** Records read in one step, with up to 51 orders each. */
const STEP = 100;

export interface WalkedSettlement {
  readonly record: SettlementRecord;
  /** The orders that the record names, by hash. */
  readonly orders: ReadonlyMap<string, OrderRecord>;
}

/** Every settlement that matches the filter, oldest first, which is the order in which a chain should receive them. */
export async function* walkSettlements(
  settlements: Pick<Settlements, 'listed' | 'ordersOf'>,
  { status, marketId }: SettlementsFilter,
): AsyncGenerator<WalkedSettlement> {
  let from = FIRST_LISTED;
  for (;;) {
    const stretch = { from, to: LAST_LISTED, descending: false, most: STEP };
    const found = await settlements.listed(marketId, stretch);
    const records = found.flatMap(({ key, record: packed }) => {
      const record = packed && decodeSettlement(key, packed);
      return record && (status === undefined || record.settlementStatus === status) ? [record] : [];
    });
    const orders = await settlements.ordersOf(records);
    for (const record of records) yield { record, orders };
    const last = found.at(-1);
    if (!last || found.length < STEP) return;
    from = aboveListed(last);
  }
}
