import { computeAddress, type Signature, SigningKey, Transaction } from 'ethers';
import type { UnsignedTransaction } from './unsigned';

/** Signs the operator's transactions. Keys are in the environment, or in a Web3Signer that gives away only signatures. */
export interface Signer {
  /** In lower case; one lane each. */
  addresses(): Promise<readonly string[]>;
  sign(from: string, transaction: UnsignedTransaction): Promise<Signature>;
}

export const createKeySigner = (keys: readonly string[]): Signer => {
  const own = new Map(
    keys.map((key) => new SigningKey(key)).map((key) => [computeAddress(key).toLowerCase(), key]),
  );
  return {
    addresses: async () => [...own.keys()],
    async sign(from, { digest }) {
      const key = own.get(from);
      if (!key) throw new Error(`no key of OPERATOR_KEYS belongs to ${from}`);
      return key.sign(digest);
    },
  };
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BYTES = /^0x([0-9a-fA-F]{2})+$/;

/** `ask` calls the JSON-RPC of a Web3Signer: `eth_accounts` and `eth_signTransaction`. */
export function createRemoteSigner(
  ask: (method: string, params: readonly unknown[]) => Promise<unknown>,
): Signer {
  return {
    async addresses() {
      const accounts = await ask('eth_accounts', []);
      if (!Array.isArray(accounts) || !accounts.every(isAddress))
        throw new Error('the signer did not answer eth_accounts with a list of addresses');
      return accounts.map((address) => address.toLowerCase());
    },
    async sign(from, transaction) {
      const answer = await ask('eth_signTransaction', [{ from, ...fieldsOf(transaction) }]);
      const bytes = typeof answer === 'object' && answer !== null && 'raw' in answer ? answer.raw : answer;
      const signature =
        typeof bytes === 'string' && BYTES.test(bytes) ? Transaction.from(bytes).signature : null;
      if (!signature)
        throw new Error('the signer did not answer eth_signTransaction with a signed transaction');
      return signature;
    },
  };
}

const isAddress = (value: unknown): value is string => typeof value === 'string' && ADDRESS.test(value);
const quantity = (n: bigint | number): string => `0x${n.toString(16)}`;

function fieldsOf({ chainId, nonce, call, fee }: UnsignedTransaction) {
  const { to, data, gasLimit } = call;
  const price =
    fee.tipWei === null
      ? { gasPrice: quantity(fee.maxWei) }
      : { maxFeePerGas: quantity(fee.maxWei), maxPriorityFeePerGas: quantity(fee.tipWei) };
  return {
    to,
    data,
    value: '0x0',
    gas: quantity(gasLimit),
    nonce: quantity(nonce),
    chainId: quantity(chainId),
    ...price,
  };
}
