import type { Facts } from './checker';
import type { Sample } from './checker-api';
import { EXCHANGE_ABI } from './checker-chain';
import type { BlockSeen } from './checker-deeds';
import { chainId } from './checker-matches';

/** C6: the transactions of the addresses that settle. And the counts of failures, which follow from the records. */
const SETTLE = EXCHANGE_ABI.getFunction('settle')?.selector ?? '';

export async function checkLanes(facts: Facts, metrics: readonly Sample[]): Promise<string[]> {
  const { chain, blocks, records, fromBlock } = facts;
  const { exchange } = chain.contracts;
  const told = metrics.filter(({ name }) => name === 'exchange_chain_nonce_gap');
  const sent = blocks.flatMap(({ number, transactions }) => (number > fromBlock ? transactions : []));
  const isSettling = ({ to, input }: Transaction): boolean =>
    to?.toLowerCase() === exchange && input.startsWith(SETTLE);
  const lanes = new Set([
    ...told.map(({ labels }) => String(labels.lane).toLowerCase()),
    ...sent.filter(isSettling).map(({ from }) => from.toLowerCase()),
  ]);
  const known = new Set([...records.map(({ id }) => id), ...(facts.lost ?? [])].map(chainId));
  const foreign = sent
    .filter(({ from }) => lanes.has(from.toLowerCase()))
    .flatMap((one) => {
      const ids = isSettling(one) ? idsIn(one.input) : null;
      const isEmpty = one.to?.toLowerCase() === one.from.toLowerCase() && one.input === '0x';
      const isOurs = ids === null ? isEmpty : ids.every((id) => known.has(id));
      return isOurs
        ? []
        : [`C6: the nonce ${Number(one.nonce)} of ${one.from} is not an intent: ${one.hash}`];
    });
  const gaps = [...lanes].flatMap((lane) => {
    const gap = told.find(({ labels }) => String(labels.lane).toLowerCase() === lane)?.value;
    return gap === 0
      ? []
      : [`C6: the books and the chain differ by ${gap ?? 'an unknown number of'} nonces of the lane ${lane}`];
  });
  const twice = chain.happened.filter(
    ({ by, name, block }) => by === 'exchange' && name === 'Done' && block > fromBlock,
  );
  return [
    ...foreign,
    ...gaps,
    ...twice.map(({ args, transaction }) => `C6: 0x${args[0].toString(16)} was sent again in ${transaction}`),
    ...wrongCounts(facts, metrics),
  ];
}

type Transaction = BlockSeen['transactions'][number];

const idsIn = (input: string): bigint[] =>
  [...EXCHANGE_ABI.decodeFunctionData('settle', input)[0]].map(
    (match: readonly unknown[]) => match[0] as bigint,
  );

function wrongCounts({ records }: Facts, metrics: readonly Sample[]): string[] {
  const failed = records.filter(({ status }) => status === 'FAILED');
  const counted = metrics.filter(({ name }) => name === 'exchange_chain_failed');
  return counted.flatMap(({ labels: { reason = '' }, value }) => {
    const count = failed.filter(({ failureReason = 'NONE' }) => failureReason === reason).length;
    return count === value
      ? []
      : [`C3: ${value} settlements are counted as failed for ${reason}, not ${count}`];
  });
}
