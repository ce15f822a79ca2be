import { type Activity, formatDecimal } from 'ctf-exchange-client';
import { remembered } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { gainsOf } from './gains';

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
  'fee in',
  'dollars',
  'yes',
  'no',
  'gain',
];

/** Makes text of a field that a spreadsheet would read as a formula. */
const quoted = (text: string): string => `"${text.replace(/^[=+@\t\r]/, "'$&").replace(/"/g, '""')}"`;

const MICRO_DECIMALS = 6;
const amountOf = (micro: bigint): string =>
  micro < 0n ? `-${formatDecimal(-micro, MICRO_DECIMALS)}` : formatDecimal(micro, MICRO_DECIMALS);

const rowOf = (one: Activity, gain: bigint | null): readonly string[] => {
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
    one.feeAsset ?? '',
    one.changes.collateral,
    one.changes.yes,
    one.changes.no,
    gain === null ? '' : amountOf(gain),
  ];
};

/** The lines of the chosen kind. `activity` has all lines oldest first, because a gain depends on what was paid before. */
export function csvOf(activity: readonly Activity[], isChosen: (one: Activity) => boolean): string {
  const gains = gainsOf(activity);
  const rows = activity.flatMap((one, i) => (isChosen(one) ? [rowOf(one, gains[i] ?? null)] : []));
  return [HEAD, ...rows].map((row) => row.map(quoted).join(',')).join('\r\n');
}

export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
