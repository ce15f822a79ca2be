import { mutableTypes, type Signer } from './sessions';
import { askNode, type ExecutingWallet, sendCalls, type UnsignedTransaction } from './transactions';
import type { Eip712Domain, Eip712Types } from './types';
import type { WalletCall } from './types-chain';

/** A Safe (1.3 or newer, with its compatibility fallback handler) as the maker of orders. */

/** An owner with its key: an ethers Wallet fits unchanged. */
export interface SafeOwner {
  readonly address: string;
  signTypedData(
    domain: { readonly chainId: number; readonly verifyingContract: string },
    types: Record<string, { name: string; type: string }[]>,
    value: Record<string, unknown>,
  ): Promise<string>;
  signTransaction(transaction: UnsignedTransaction): Promise<string>;
}

export interface SafeOptions {
  readonly address: string;
  readonly chainId: number;
  /** As many as its threshold needs. The first one sends the transactions, and pays their gas. */
  readonly owners: readonly SafeOwner[];
  /** Functions of the library at hand: ethers has `hashMessage` and `TypedDataEncoder.hash`, viem `hashMessage` and `hashTypedData`. */
  readonly hashMessage: (text: string) => string;
  readonly hashTypedData: (
    domain: Eip712Domain,
    types: Record<string, { name: string; type: string }[]>,
    value: Record<string, unknown>,
  ) => string;
}

const MESSAGE_TYPES = { SafeMessage: [{ name: 'message', type: 'bytes' }] } satisfies Eip712Types;
const TRANSACTION_TYPES = {
  SafeTx: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
    { name: 'operation', type: 'uint8' },
    { name: 'safeTxGas', type: 'uint256' },
    { name: 'baseGas', type: 'uint256' },
    { name: 'gasPrice', type: 'uint256' },
    { name: 'gasToken', type: 'address' },
    { name: 'refundReceiver', type: 'address' },
    { name: 'nonce', type: 'uint256' },
  ],
} satisfies Eip712Types;

/** `nonce()`, `getThreshold()` and `execTransaction(…)`. */
const NONCE_CALL = '0xaffed0e0';
const THRESHOLD_CALL = '0xe75235b8';
const EXECUTE_SELECTOR = '0x6a761202';
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const WORD_BYTES = 32n;
const WORD_DIGITS = 64;

/** Signs in and signs orders as the Safe does; `sendCalls` sends what it executes. */
export function safeWallet(options: SafeOptions): Signer & ExecutingWallet {
  const { address, chainId, owners, hashMessage, hashTypedData } = options;
  const [sender] = owners;
  if (!sender) throw new RangeError('a Safe signs with one owner at least');
  const domain = { chainId, verifyingContract: address };
  // A Safe takes the signatures of its owners in the order of their addresses.
  const inOrder = [...owners].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));

  async function signed(types: Eip712Types, value: Record<string, unknown>): Promise<string> {
    const signatures: string[] = [];
    for (const owner of inOrder) {
      const signature = await owner.signTypedData(domain, mutableTypes(types), value);
      signatures.push(signature.slice(2));
    }
    return `0x${signatures.join('')}`;
  }

  const approve = (digest: string): Promise<string> => signed(MESSAGE_TYPES, { message: digest });

  /** The call of an owner that has the Safe make `call`. */
  async function execution(call: WalletCall, nonce: bigint): Promise<WalletCall> {
    const { to, data, description } = call;
    const addresses = { gasToken: ZERO_ADDRESS, refundReceiver: ZERO_ADDRESS };
    const amounts = { value: 0, operation: 0, safeTxGas: 0, baseGas: 0, gasPrice: 0 };
    const signatures = await signed(TRANSACTION_TYPES, { to, data, ...amounts, ...addresses, nonce });
    return { to: address, data: executionData(to, data, signatures), description };
  }

  return {
    address,
    isContract: true,
    signMessage: async (text) => approve(hashMessage(text)),
    signTypedData: async (...typed) => approve(hashTypedData(...typed)),
    async execute(node, calls) {
      const ask = async (data: string): Promise<bigint> =>
        BigInt(String(await askNode(node.rpcUrl, 'eth_call', [{ to: address, data }, 'latest'])));
      const needed = await ask(THRESHOLD_CALL);
      if (owners.length < needed)
        throw new RangeError(`the Safe needs ${needed} owners to sign, and has ${owners.length} here`);
      const hashes: string[] = [];
      for (const call of calls) {
        const step = await execution(call, await ask(NONCE_CALL));
        hashes.push(...(await sendCalls({ ...node, signer: sender }, [step])));
      }
      return hashes;
    },
  };
}

/** `execTransaction` without a refund: ten words, of which two lead to bytes behind them. */
function executionData(to: string, data: string, signatures: string): string {
  const call = bytesOf(data);
  const callAt = 10n * WORD_BYTES;
  const signaturesAt = callAt + BigInt(call.length / 2);
  const words = [BigInt(to), 0n, callAt, 0n, 0n, 0n, 0n, 0n, 0n, signaturesAt];
  return EXECUTE_SELECTOR + words.map(wordOf).join('') + call + bytesOf(signatures);
}

const wordOf = (value: bigint): string => value.toString(16).padStart(WORD_DIGITS, '0');

/** Their length in a word, then the bytes in whole words. */
function bytesOf(hex: string): string {
  const digits = hex.slice(2);
  const words = Math.ceil(digits.length / WORD_DIGITS);
  return wordOf(BigInt(digits.length / 2)) + digits.padEnd(words * WORD_DIGITS, '0');
}
