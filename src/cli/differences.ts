import type { Difference } from '../exchange/audit';
import type { DifferenceOf } from '../store/audit/report';
import { table } from './table';

/** The differences as rows of a table; nothing when there are none. */
export function differenceTable(differences: readonly Shown[]): string[] {
  const rows = differences.map((difference) => {
    const { kind, expected = '', found = '', detail, ...where } = difference;
    return [kind, Object.values(where).join(' '), expected, found, detail];
  });
  return rows.length === 0 ? [] : table([['KIND', 'WHERE', 'EXPECTED', 'FOUND', 'WHAT'], ...rows]);
}
type Shown = Omit<DifferenceOf<string>, 'wallet'> & Pick<Difference, 'wallet'>;
