import type { Activity } from 'ctf-exchange-client';
import { remembered } from '../market-list-data';
import { nameOf } from '../outcome-names';

const HEAD = [
  'time',
  'type',
  'market',
  'outcome',
  'side',
  'role',
  'price',
  'shares',
  'fee',
  'dollars',
  'yes',
  'no',
];

/** Makes text of a field that a spreadsheet would read as a formula. */
const quoted = (text: string): string => `"${text.replace(/^[=+@\t\r]/, "'$&").replace(/"/g, '""')}"`;

const rowOf = (one: Activity): readonly string[] => {
  const market = one.marketId === null ? undefined : remembered(one.marketId);
  return [
    one.occurredAt,
    one.type,
    market?.question ?? one.marketId ?? '',
    one.outcomeIndex === null ? '' : nameOf(market, one.outcomeIndex),
    one.side ?? '',
    one.role ?? '',
    one.price ?? '',
    one.size ?? '',
    one.fee ?? '',
    one.changes.collateral,
    one.changes.yes,
    one.changes.no,
  ];
};

export const csvOf = (activity: readonly Activity[]): string =>
  [HEAD, ...activity.map(rowOf)].map((row) => row.map(quoted).join(',')).join('\r\n');

export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
