import type { Checked } from './checker';
import { openApi } from './checker-api';
import type { Guilty } from './storm-trouble';

/** The ends of all settlements in a sentence. Throws when a wallet is blamed for its signature that has changed nothing. */
export async function summaryOf(
  { baseUrl, adminToken }: Checked,
  guilty: readonly Guilty[],
): Promise<string> {
  const records = await (await openApi(baseUrl, adminToken)).settlements();
  const confirmed = records.filter(({ status }) => status === 'CONFIRMED');
  const transactions = new Set(confirmed.map(({ transactionHash }) => transactionHash)).size;
  const reasons = new Map<string, number>();
  for (const { status, failureReason = 'NONE' } of records)
    if (status === 'FAILED') reasons.set(failureReason, (reasons.get(failureReason) ?? 0) + 1);
  const contracts = guilty.filter(({ contract }) => contract);
  const changed = contracts.filter(({ deeds }) => deeds.has('SIGNATURE'));
  const isIn = (list: readonly Guilty[], wallet: string): boolean =>
    list.some(({ address }) => address.toLowerCase() === wallet.toLowerCase());
  for (const { id, failureReason, failedWallet = '' } of records)
    if (failureReason === 'SIGNATURE' && !isIn(changed, failedWallet))
      throw new Error(`${id} failed for the signature of ${failedWallet}, which has not changed`);
  const theirs = confirmed.filter((one) =>
    [one.takerOrder, ...one.makerOrders].some((order) => isIn(contracts, order?.maker ?? '')),
  );
  return `${confirmed.length} confirmed in ${transactions} transactions, ${theirs.length} of them with contract wallets, failed ${JSON.stringify([...reasons])}`;
}
