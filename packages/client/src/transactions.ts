import { ExchangeError } from './errors';
import { timeLimit } from './transport';
import type { WalletCall } from './types-chain';

/** Transactions that a wallet sends itself with funds on a chain: approvals, splits, merges. */

/** An unsigned transaction, as wallets of ethers and others take it. */
export interface UnsignedTransaction {
  readonly type: 0;
  readonly chainId: number;
  readonly nonce: number;
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly gasPrice: bigint;
}

/** A wallet with its key; one in a browser sends by itself. */
export interface TransactionSigner {
  readonly address: string;
  /** Resolves with the signed bytes. */
  signTransaction(transaction: UnsignedTransaction): Promise<string>;
}

/** The node that takes the transactions. */
export interface SendTo {
  /** The node of `chain` in GET /config, or another one of the same chain. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Default: the price that the node asks for. */
  readonly gasPriceWei?: bigint;
}

/** A wallet that has no key of its own and makes calls in its own way, as a contract does. */
export interface ExecutingWallet {
  readonly address: string;
  /** Resolves with the hashes of the transactions when all are in blocks. */
  execute(node: SendTo, calls: readonly WalletCall[]): Promise<string[]>;
}

export interface SendOptions extends SendTo {
  readonly signer: TransactionSigner | ExecutingWallet;
}

const REQUEST_MS_MAX = 10_000;
const POLL_MS = 250;
/** 60 s. */
const POLLS_MAX = 240;
const GAS_MARGIN_PERCENT = 130n;

/** The transactions that a refusal asks the wallet to send; null for every other error. */
export function callsOf(error: unknown): readonly WalletCall[] | null {
  if (!(error instanceof ExchangeError) || error.code !== 'ON_CHAIN') return null;
  const calls = error.problem?.calls;
  return Array.isArray(calls) ? (calls as WalletCall[]) : null;
}

/** Sends one after the other and resolves with their hashes when all are in blocks. Rejects with the first that fails. */
export async function sendCalls(options: SendOptions, calls: readonly WalletCall[]): Promise<string[]> {
  const { signer, ...node } = options;
  if ('execute' in signer) return signer.execute(node, calls);
  if (!('signTransaction' in signer)) throw new TypeError('a contract as signer needs execute(node, calls)');
  const hashes: string[] = [];
  for (const call of calls) hashes.push(await sendOne(node, signer, call));
  return hashes;
}

/** EIP-7702: the account of a key that has lent its address to a program, and still signs with its key. */
const DELEGATED = '0xef0100';

/** Whether a contract is deployed at the address, so that its signer is one with `isContract`. */
export async function isContractAt(rpcUrl: string, address: string): Promise<boolean> {
  const code = String(await askNode(rpcUrl, 'eth_getCode', [address, 'latest']));
  return code !== '0x' && !code.startsWith(DELEGATED);
}

async function sendOne(
  { rpcUrl, chainId, gasPriceWei }: SendTo,
  signer: TransactionSigner,
  call: WalletCall,
) {
  const { to, data } = call;
  const ask = (method: string, ...params: unknown[]): Promise<unknown> => askNode(rpcUrl, method, params);
  const number = async (method: string, ...params: unknown[]): Promise<bigint> =>
    BigInt(String(await ask(method, ...params)));
  const gas = await number('eth_estimateGas', { from: signer.address, to, data });
  const signed = await signer.signTransaction({
    type: 0,
    chainId,
    to,
    data,
    value: 0n,
    nonce: Number(await number('eth_getTransactionCount', signer.address, 'pending')),
    gasLimit: (gas * GAS_MARGIN_PERCENT) / 100n,
    gasPrice: gasPriceWei ?? (await number('eth_gasPrice')),
  });
  const hash = String(await ask('eth_sendRawTransaction', signed));
  await untilMined(ask, hash);
  return hash;
}

async function untilMined(
  ask: (method: string, ...params: unknown[]) => Promise<unknown>,
  hash: string,
): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    const receipt = (await ask('eth_getTransactionReceipt', hash)) as { status?: string } | null;
    if (receipt?.status === '0x1') return;
    if (receipt) throw new Error(`the chain refused the transaction ${hash}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`the transaction ${hash} is in no block yet`);
}

export async function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const limit = timeLimit(REQUEST_MS_MAX);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: limit.signal,
    });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: { message?: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  } finally {
    limit.end();
  }
}
