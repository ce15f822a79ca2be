import { Interface, type InterfaceAbi, type Result } from 'ethers';
import { MARKET_EXCHANGE, TEST_COLLATERAL } from '../../../src/chain/artifacts';
import { type Chain, createChain, interfaceOf, type Log } from './rpc';

/** The chain as the checker reads it: the logs of three contracts, and the state of wallets. Nothing of the exchange's own code. */
const CONDITIONAL_TOKENS = require('@gnosis.pm/conditional-tokens-contracts/build/contracts/ConditionalTokens.json');

export const EXCHANGE_ABI = interfaceOf(MARKET_EXCHANGE);
export const COLLATERAL_ABI = interfaceOf(TEST_COLLATERAL);
export const TOKENS_ABI = new Interface(CONDITIONAL_TOKENS.abi as InterfaceAbi);
const BLOCKS_AT_ONCE = 500;
const COLLATERAL = 0n;
export const NOBODY = `0x${'0'.repeat(40)}`;
/** Addresses in lower case. */
export interface Contracts {
  readonly exchange: string;
  readonly collateral: string;
  readonly tokens: string;
}

/** An event; `place` orders all of them. */
export interface Happened {
  readonly by: keyof Contracts;
  readonly name: string;
  readonly args: Result;
  readonly block: number;
  readonly transaction: string;
  readonly place: number;
}

/** Changes of balances, by `wallet/asset`; asset 0 is the collateral. */
export type Changes = Map<string, bigint>;
export function change(changes: Changes, wallet: unknown, asset: bigint, amount: bigint): void {
  const key = `${String(wallet).toLowerCase()}/${asset}`;
  changes.set(key, (changes.get(key) ?? 0n) + amount);
}

/** A match that the chain settled. */
export interface SettledMatch {
  readonly id: bigint;
  readonly block: number;
  readonly transaction: string;
  /** Its transfers; the amounts that the contract keeps for a wallet count as delivered. */
  readonly moved: Changes;
}

export interface ChainRecord {
  readonly chain: Chain;
  readonly contracts: Contracts;
  readonly happened: readonly Happened[];
  /** In their order, each as often as the chain settled it. */
  readonly settled: readonly SettledMatch[];
  /** Transfers besides the settlements. */
  readonly outside: readonly Transfer[];
  readonly finalBlock: number;
}

interface RawLog extends Log {
  readonly blockNumber: string;
  readonly logIndex: string;
  readonly transactionHash: string;
}

export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly asset: bigint;
  readonly amount: bigint;
  readonly at: Happened;
}

const hex = (n: number): string => `0x${n.toString(16)}`;
const lower = (address: unknown): string => String(address).toLowerCase();

export const finalBlockOf = async (chain: Chain): Promise<number> =>
  Number((await chain.ask<{ number: string }>('eth_getBlockByNumber', 'finalized', false)).number);

/** Reads everything up to the newest block. */
export async function readChain(rpcUrl: string, contracts: Contracts): Promise<ChainRecord> {
  const chain = createChain(rpcUrl);
  const finalBlock = await finalBlockOf(chain);
  const newest = Number(await chain.ask<string>('eth_blockNumber'));
  const happened: Happened[] = [];
  for (let from = 0; from <= newest; from += BLOCKS_AT_ONCE) {
    const to = Math.min(from + BLOCKS_AT_ONCE - 1, newest);
    const address = Object.values(contracts);
    const filter = { fromBlock: hex(from), toBlock: hex(to), address };
    for (const log of await chain.ask<RawLog[]>('eth_getLogs', filter))
      happened.push(...parse(log, contracts));
  }
  return { chain, contracts, happened, finalBlock, ...divide(happened, contracts) };
}

function parse(log: RawLog, contracts: Contracts): Happened[] {
  const abis = { exchange: EXCHANGE_ABI, collateral: COLLATERAL_ABI, tokens: TOKENS_ABI };
  const by = (Object.keys(abis) as (keyof Contracts)[]).find((one) => contracts[one] === lower(log.address));
  const found = by && abis[by].parseLog(log);
  if (!by || !found) return [];
  const place = Number(log.blockNumber) * 100_000 + Number(log.logIndex);
  const { name, args } = found;
  return [{ by, name, args, block: Number(log.blockNumber), transaction: log.transactionHash, place }];
}

/** The single transfers of an event of the collateral or of the outcome tokens. */
export function transfersOf(at: Happened): Transfer[] {
  const { by, name, args } = at;
  const one = (from: unknown, to: unknown, asset: bigint, amount: bigint): Transfer => ({
    from: lower(from),
    to: lower(to),
    asset,
    amount,
    at,
  });
  if (by === 'collateral' && name === 'Transfer') return [one(args[0], args[1], COLLATERAL, args[2])];
  if (by === 'tokens' && name === 'TransferSingle') return [one(args[1], args[2], args[3], args[4])];
  if (by !== 'tokens' || name !== 'TransferBatch') return [];
  const [, from, to, ids, amounts] = args;
  return [...ids].map((id: bigint, i: number) => one(from, to, id, amounts[i]));
}

/** The events before MatchSettled, in the same transaction and behind the match before, are those of its match. */
function divide(happened: readonly Happened[], contracts: Contracts) {
  const settled: SettledMatch[] = [];
  const outside: Transfer[] = [];
  let open: Happened[] = [];
  const leave = (): void => {
    outside.push(...open.flatMap(transfersOf));
    open = [];
  };
  for (const one of [...happened].sort((a, b) => a.place - b.place)) {
    if (open[0] && open[0].transaction !== one.transaction) leave();
    if (one.by === 'exchange' && one.name === 'MatchSettled') {
      const { block, transaction } = one;
      settled.push({ id: one.args[0], block, transaction, moved: movedBy(open, contracts) });
      open = [];
    } else if (one.by === 'exchange' && (one.name === 'Done' || one.name === 'MatchFailed')) leave();
    else open.push(one);
  }
  leave();
  return { settled, outside };
}

function movedBy(events: readonly Happened[], { exchange }: Contracts): Changes {
  const moved: Changes = new Map();
  for (const one of events) {
    for (const { from, to, asset, amount } of transfersOf(one)) {
      change(moved, from, asset, -amount);
      change(moved, to, asset, amount);
    }
    if (one.by !== 'exchange' || one.name !== 'Held') continue;
    change(moved, one.args[0], one.args[1], one.args[2]);
    change(moved, exchange, one.args[1], -(one.args[2] as bigint));
  }
  return moved;
}

/** The state of a wallet after a block, by default the newest. */
export interface WalletState {
  readonly collateral: bigint;
  readonly allowance: bigint;
  readonly isApproved: boolean;
  readonly tokens: ReadonlyMap<string, bigint>;
}

export async function stateOf(
  chain: Chain,
  { exchange, collateral, tokens }: Contracts,
  wallet: string,
  tokenIds: readonly string[],
  block: number | 'latest' = 'latest',
): Promise<WalletState> {
  const at = block === 'latest' ? block : hex(block);
  const read = async (to: string, abi: Interface, method: string, ...args: unknown[]): Promise<unknown> => {
    const data = abi.encodeFunctionData(method, args);
    return abi.decodeFunctionResult(method, await chain.ask<string>('eth_call', { to, data }, at))[0];
  };
  const owners = tokenIds.map(() => wallet);
  const [balance, allowance, isApproved, balances] = await Promise.all([
    read(collateral, COLLATERAL_ABI, 'balanceOf', wallet),
    read(collateral, COLLATERAL_ABI, 'allowance', wallet, exchange),
    read(tokens, TOKENS_ABI, 'isApprovedForAll', wallet, exchange),
    tokenIds.length === 0 ? [] : read(tokens, TOKENS_ABI, 'balanceOfBatch', owners, tokenIds),
  ]);
  return {
    collateral: balance as bigint,
    allowance: allowance as bigint,
    isApproved: isApproved as boolean,
    tokens: new Map(tokenIds.map((id, i) => [id, (balances as bigint[])[i] ?? 0n])),
  };
}
