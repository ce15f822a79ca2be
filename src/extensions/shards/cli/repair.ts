import { checksumAddress } from '../../../auth/address';
import { recorded } from '../../../cli/action';
import { type Command, EXIT } from '../../../cli/store';
import { table } from '../../../cli/table';
import { formatMicro } from '../../../exchange/units';
import { type RepairReport, repairChannels } from '../store/repair';

/** Makes broken channels whole, and says what was taken from whom; exit 1 when one is still broken. */
export const repairShards: Command = async ({ store, say }) => {
  const { redis, run } = store;
  const doing = { action: 'shards repair', path: 'exchange shards repair' };
  const shards = store.partitions.map(({ keys }) => keys);
  const report = await recorded(store, doing, () => repairChannels({ redis, run, shards }));
  await say(present(report), linesOf(report));
  return report.missing.length === 0 ? EXIT.done : EXIT.found;
};

const present = ({ channels, payments, missing }: RepairReport) => ({
  channels: channels.map(({ from, to, isWhole }) => ({ from, to, broken: !isWhole })),
  payments: payments.map(({ wallet, amountMicro, payer, shard }) => ({
    wallet: checksumAddress(wallet),
    amount: formatMicro(amountMicro),
    payer,
    shard,
  })),
  missing: missing.map(({ wallet, amountMicro }) => ({
    wallet: checksumAddress(wallet),
    amount: formatMicro(amountMicro),
  })),
});

function linesOf(report: RepairReport): string[] {
  const { channels, payments, missing } = present(report);
  if (channels.length === 0) return ['no channel is broken'];
  const rows = [
    ...payments.map(({ wallet, amount, payer, shard }) => [
      ...[wallet, amount, payer === 'FEES' ? `the fees in shard ${shard}` : `the wallet in shard ${shard}`],
    ]),
    ...missing.map(({ wallet, amount }) => [
      wallet,
      amount,
      'not delivered: neither the wallet nor the fees have it',
    ]),
  ];
  return [
    ...(rows.length === 0 ? [] : table([['HAD IT TWICE', 'AMOUNT', 'PAID BY'], ...rows])),
    ...channels.map(
      ({ from, to, broken }) => `channel ${from} to ${to}: ${broken ? 'still BROKEN' : 'whole'}`,
    ),
  ];
}
