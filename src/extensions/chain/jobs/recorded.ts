import type { Settlement } from '../../../exchange/settlement';
import { decodeSettlement, type SettlementKey, settlementName } from '../../../store/records/settlement';
import type { Settlements } from '../../../store/settlement/settlements';
import type { FilledOrder, SettledMatch } from '../contracts/exchange-events';
import type { Happened } from './gathering';

/** What the exchange matched under these names; null for a match that the books lack, or of which no settlement was built. */
export type ReadRecorded = (names: readonly SettlementKey[]) => Promise<readonly (Settlement | null)[]>;

export const createReadRecorded =
  (settlements: Pick<Settlements, 'packed'>): ReadRecorded =>
  async (names) => {
    const found = await settlements.packed(names.map(settlementName));
    return names.map((name, i) => {
      try {
        return found[i] ? decodeSettlement(name, found[i]).settlement : null;
      } catch {
        // The ledger reports a record that it cannot read.
        return null;
      }
    });
  };

/**
 * The matches that the contract settled otherwise than they were made: other orders, amounts or fees under the name of a match. Only
 * another holder of an operator's key sends such, or an exchange whose later matches this Redis has lost.
 */
export async function othersIn(
  happened: readonly Happened[],
  recorded: ReadRecorded,
): Promise<ReadonlySet<SettledMatch>> {
  const settled = happened.flatMap((one) => one.settled);
  const records = settled.length === 0 ? [] : await recorded(settled);
  return new Set(
    settled.filter(({ fills }, i) => {
      const record = records[i];
      return record && !isSame(fills, fillsOf(record));
    }),
  );
}

/** The fills of which the contract has events when it settles a match as it was made. */
const fillsOf = (one: Settlement): FilledOrder[] => [
  ...one.makerHashes.map((orderHash, i) => ({
    orderHash,
    gave: one.makerFillAmounts[i] ?? 0n,
    fee: one.makerFeeAmounts[i] ?? 0n,
  })),
  { orderHash: one.takerHash, gave: one.takerFillAmount - one.refundAmount, fee: one.takerFeeAmount },
];

const isSame = (a: readonly FilledOrder[], b: readonly FilledOrder[]): boolean =>
  a.length === b.length &&
  a.every(({ orderHash, gave, fee }, i) => {
    const other = b[i];
    return orderHash === other?.orderHash && gave === other.gave && fee === other.fee;
  });
