import { checksumAddress } from '../auth/address';
import { presentAudit } from '../wire/answers/audit';
import { type Command, EXIT } from './store';
import { table } from './table';

/** Prints the differences; exit 1 when it finds one. */
export const audit: Command = async ({ store, say }) => {
  const report = presentAudit(await store.audit(), checksumAddress);
  const { orders, balances, markets, fills } = report.checked;
  const looked = `${orders} orders, ${balances} balances, ${markets} markets, ${fills} fills`;
  const rows = report.differences.map((difference) => {
    const { kind, expected = '', found = '', detail, ...where } = difference;
    return [kind, Object.values(where).join(' '), expected, found, detail];
  });
  await say(report, [
    ...(rows.length === 0 ? [] : table([['KIND', 'WHERE', 'EXPECTED', 'FOUND', 'WHAT'], ...rows])),
    report.ok ? `ok: ${looked}` : `${report.differences.length} differences in ${looked}`,
  ]);
  return report.ok ? EXIT.done : EXIT.found;
};
