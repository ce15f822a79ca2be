import { getAddress, Interface, type InterfaceAbi } from 'ethers';
import type { Artifact } from '../../../src/chain/artifacts';

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}
export interface Receipt {
  readonly status: string;
  readonly blockNumber: string;
  readonly gasUsed: string;
  readonly contractAddress: string | null;
  readonly logs: readonly Log[];
}

/** An error of the node, with the data of a revert. */
export class RpcError extends Error {
  constructor(
    message: string,
    readonly data: string,
  ) {
    super(message);
  }
}

/** A node that mines each transaction at once, spoken to without a library that waits between its questions. */
export interface Chain {
  ask<T>(method: string, ...params: readonly unknown[]): Promise<T>;
  /** Sends from any account, by its address, and returns the receipt. Throws RpcError when the transaction reverts. */
  send(from: string, to: string | null, data: string, gas?: bigint): Promise<Receipt>;
  /** Waits until a block has the transaction. */
  receiptOf(hash: string): Promise<Receipt>;
  deploy(from: string, artifact: Artifact, args?: readonly unknown[]): Promise<string>;
  /** `eth_call` of a contract. */
  read(to: string, abi: Interface, method: string, ...args: readonly unknown[]): Promise<unknown>;
}

const hex = (n: bigint): string => `0x${n.toString(16)}`;
const RECEIPT_MAX_MS = 90_000;
const RECEIPT_STEP_MS = 2;
const GAS_MAX = 29_000_000n;

export const interfaceOf = (artifact: Artifact): Interface => new Interface(artifact.abi as InterfaceAbi);

/** The creation code of a contract with the encoded arguments of its constructor. */
export const creationOf = (artifact: Artifact, args: readonly unknown[]): string =>
  artifact.bytecode + interfaceOf(artifact).encodeDeploy(args).slice(2);

export function createChain(url: string): Chain {
  let id = 0;
  async function ask<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    const answer = (await response.json()) as { result: T; error?: { message: string; data?: unknown } };
    if (!answer.error) return answer.result;
    const { message, data } = answer.error;
    throw new RpcError(`${method}: ${message}`, typeof data === 'string' ? data : '0x');
  }

  /** The node mines at once, and answers a little earlier. */
  async function receiptOf(hash: string): Promise<Receipt> {
    const until = performance.now() + RECEIPT_MAX_MS;
    while (performance.now() < until) {
      const receipt = await ask<Receipt | null>('eth_getTransactionReceipt', hash);
      if (receipt) return receipt;
      await new Promise((resolve) => setTimeout(resolve, RECEIPT_STEP_MS));
    }
    throw new Error(`no receipt of ${hash} within ${RECEIPT_MAX_MS} ms`);
  }

  async function send(from: string, to: string | null, data: string, gas = GAS_MAX): Promise<Receipt> {
    const transaction = { from, ...(to === null ? {} : { to }), data, gas: hex(gas) };
    const hash = await ask<string>('eth_sendTransaction', transaction);
    const receipt = await receiptOf(hash);
    if (BigInt(receipt.status) === 1n) return receipt;
    // The same call again, for the reason; only its text differs between nodes.
    await ask('eth_call', transaction, 'latest');
    throw new RpcError('the transaction reverted, and the same call does not', '0x');
  }

  return {
    ask,
    send,
    receiptOf,
    async deploy(from, artifact, args = []) {
      const { contractAddress } = await send(from, null, creationOf(artifact, args));
      if (contractAddress === null) throw new Error('the receipt names no contract');
      return getAddress(contractAddress);
    },
    async read(to, abi, method, ...args) {
      const data = abi.encodeFunctionData(method, args);
      const found = abi.decodeFunctionResult(method, await ask<string>('eth_call', { to, data }, 'latest'));
      return found.length === 1 ? found[0] : found;
    },
  };
}
