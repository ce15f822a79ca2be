import { type SettlementKey, settlementId } from '../../../store/records/settlement';

/** Settlements that the message names. */
const NAMED_MAX = 5;

/**
 * Halts the exchange when the chain has settled matches that the books lack. The data may be an old copy: matches that were made
 * after it was copied are not in it, and their numbers are free again.
 */
export const haltingOnUnknown =
  (halt: (reason: string) => Promise<unknown>) =>
  (settlements: readonly SettlementKey[]): Promise<unknown> =>
    halt(`it settled matches that this Redis does not know: ${namesOf(settlements)}`);

/** Halts the exchange when the chain has settled something else under the names of matches: the key of an operator may be stolen. */
export const haltingOnOther =
  (halt: (reason: string) => Promise<unknown>) =>
  (settlements: readonly SettlementKey[]): Promise<unknown> =>
    halt(
      `it settled other orders or amounts than were matched, so an operator's key may be stolen: ${namesOf(settlements)}`,
    );

function namesOf(settlements: readonly SettlementKey[]): string {
  const names = settlements.slice(0, NAMED_MAX).map(settlementId);
  const others = settlements.length - names.length;
  return names.join(', ') + (others > 0 ? ` and ${others} others` : '');
}
