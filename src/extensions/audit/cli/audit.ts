import { checksumAddress } from '../../../auth/address';
import { differenceTable } from '../../../cli/differences';
import { type Command, EXIT } from '../../../cli/store';
import { presentAudit, presentDifferences } from '../../../wire/answers/audit';
import { verifyAll } from '../../archive/cli/archives';

/** Prints the differences; exit 1 when it finds one. With the archive it reads both stores. */
export const audit =
  (withArchive: boolean): Command =>
  async ({ store, say, paint }) => {
    const found = await store.audit();
    const archivedReads = withArchive ? await verifyAll(store) : null;
    const report = presentAudit(found, checksumAddress);
    const { orders, balances, markets, fills } = report.checked;
    const looked = `${orders} orders, ${balances} balances, ${markets} markets, ${fills} fills`;
    const differences = [
      ...report.differences,
      ...presentDifferences(archivedReads?.problems ?? [], checksumAddress),
    ];
    const ok = differences.length === 0;
    const archived = archivedReads && {
      orders: archivedReads.orders,
      matches: archivedReads.matches,
      lines: archivedReads.lines,
    };
    const all = archived
      ? `${looked}; archived: ${archived.orders} orders, ${archived.matches} matches, ${archived.lines} lines of journals`
      : looked;
    await say({ ...report, ok, differences, ...(archived ? { archived } : {}) }, [
      ...differenceTable(differences),
      ok
        ? `${paint('green', 'ok')}: ${all}`
        : `${paint('red', `${differences.length} differences`)} in ${all}`,
    ]);
    return ok ? EXIT.done : EXIT.found;
  };
