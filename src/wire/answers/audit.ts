import type { AuditReport } from '../../exchange/audit';

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** `checksum` returns the EIP-55 form of an address; the account of the fees has a name instead. */
export function presentAudit(
  { ok, checked, differences }: AuditReport,
  checksum: (wallet: string) => string,
) {
  return { ok, checked, differences: presentDifferences(differences, checksum) };
}

/** The same for differences of other kinds. */
export const presentDifferences = <D extends { readonly wallet?: string }>(
  differences: readonly D[],
  checksum: (wallet: string) => string,
) =>
  differences.map(({ wallet, ...difference }) => ({
    ...difference,
    ...(wallet === undefined ? {} : { wallet: ADDRESS.test(wallet) ? checksum(wallet) : wallet }),
  }));
