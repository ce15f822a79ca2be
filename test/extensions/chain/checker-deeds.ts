import type { ChainRecord, Happened } from './checker-chain';

/** The deeds of wallets on the chain: a failure or a cancelled order must follow from one. */
export type Reason = 'COLLATERAL' | 'ALLOWANCE' | 'TOKENS' | 'APPROVAL' | 'CANCELLED' | 'NONCE';
export const FUNDS_REASONS: readonly Reason[] = ['COLLATERAL', 'ALLOWANCE', 'TOKENS', 'APPROVAL'];

interface Deed {
  readonly wallet: string;
  readonly reason: Reason;
  readonly block: number;
}

const COLLATERAL = 0n;
const BY_EVENT: Readonly<Record<string, Reason>> = {
  'collateral Approval': 'ALLOWANCE',
  'tokens ApprovalForAll': 'APPROVAL',
  'exchange CancelRequested': 'CANCELLED',
  'exchange NonceRaiseRequested': 'NONCE',
};

/** Allowances that a settlement uses up are no deed: the token tells nothing of them. */
export function deedsOf({ happened, outside }: ChainRecord, fromBlock: number): Deed[] {
  const sent = outside.map(
    ({ from, asset, at }): Deed => ({
      wallet: from,
      block: at.block,
      reason: asset === COLLATERAL ? 'COLLATERAL' : 'TOKENS',
    }),
  );
  const said = happened.flatMap((one): Deed[] => {
    const reason = BY_EVENT[`${one.by} ${one.name}`];
    return reason ? [{ wallet: walletOf(one), reason, block: one.block }] : [];
  });
  return [...sent, ...said].filter(({ block }) => block > fromBlock);
}

const walletOf = ({ name, args }: Happened): string =>
  String(args[name === 'CancelRequested' ? 1 : 0]).toLowerCase();

/** A block with its transactions. */
export interface BlockSeen {
  readonly number: number;
  readonly timeMs: number;
  readonly transactions: readonly {
    readonly hash: string;
    readonly from: string;
    readonly to: string | null;
    readonly nonce: string;
    readonly input: string;
    readonly value: string;
  }[];
}

const AT_ONCE = 50;

export async function readBlocks({ chain }: ChainRecord, from: number): Promise<BlockSeen[]> {
  const newest = Number(await chain.ask<string>('eth_blockNumber'));
  const found: BlockSeen[] = [];
  const read = async (number: number): Promise<BlockSeen> => {
    const block = await chain.ask<{ timestamp: string; transactions: BlockSeen['transactions'] }>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      true,
    );
    return { number, timeMs: Number(block.timestamp) * 1_000, transactions: block.transactions };
  };
  for (let first = from; first <= newest; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, newest - first + 1) }, (_, i) => first + i);
    found.push(...(await Promise.all(numbers.map(read))));
  }
  return found;
}

/** Whether a wallet has done one of these things since a number of blocks before a time. */
export function newsOf(deeds: readonly Deed[], blocks: readonly BlockSeen[], newsBlocks: number) {
  const blockAt = (ms: number): number =>
    blocks.findLast(({ timeMs }) => timeMs <= ms)?.number ?? blocks[0]?.number ?? 0;
  const sinceBlock = (wallet: string, reasons: readonly Reason[], block: number): boolean =>
    deeds.some(
      (deed) =>
        deed.wallet === wallet.toLowerCase() &&
        reasons.includes(deed.reason) &&
        deed.block >= block - newsBlocks,
    );
  return {
    sinceBlock,
    since: (wallet: string, reasons: readonly Reason[], time: string): boolean =>
      sinceBlock(wallet, reasons, blockAt(Date.parse(time))),
  };
}
