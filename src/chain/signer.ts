import { Transaction, Wallet } from 'ethers';

/** Signs the operator's transactions. Keys are in the environment, or in a Web3Signer that gives away only signatures. */
export interface Signer {
  /** In lower case; one lane each. */
  addresses(): Promise<readonly string[]>;
  /** Returns the signed bytes of an unsigned transaction. */
  sign(from: string, transaction: Transaction): Promise<string>;
}

export const createKeySigner = (keys: readonly string[]): Signer => {
  const wallets = new Map(keys.map((key) => new Wallet(key)).map((one) => [one.address.toLowerCase(), one]));
  return {
    addresses: async () => [...wallets.keys()],
    async sign(from, transaction) {
      const wallet = wallets.get(from);
      if (!wallet) throw new Error(`no key of OPERATOR_KEYS belongs to ${from}`);
      return wallet.signTransaction(transaction);
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
      if (typeof bytes !== 'string' || !BYTES.test(bytes))
        throw new Error('the signer did not answer eth_signTransaction with bytes');
      return bytes;
    },
  };
}

const isAddress = (value: unknown): value is string => typeof value === 'string' && ADDRESS.test(value);
const quantity = (n: bigint | number): string => `0x${n.toString(16)}`;

function fieldsOf(transaction: Transaction) {
  const { to, data, value, gasLimit, nonce, chainId } = transaction;
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = transaction;
  const price =
    maxFeePerGas === null || maxPriorityFeePerGas === null
      ? { gasPrice: quantity(gasPrice ?? 0n) }
      : { maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(maxPriorityFeePerGas) };
  return {
    ...{ to, data, value: quantity(value), gas: quantity(gasLimit), nonce: quantity(nonce) },
    ...{ chainId: quantity(chainId), ...price },
  };
}

/** Throws unless `bytes` are this transaction, signed by `from`: a signer is another program, maybe of another chain. */
export function checkSigned(bytes: string, from: string, unsigned: Transaction): Transaction {
  const signed = Transaction.from(bytes);
  if (signed.unsignedHash !== unsigned.unsignedHash)
    throw new Error('the signer signed another transaction than it was asked to');
  if (signed.from?.toLowerCase() !== from)
    throw new Error(`the signer signed with the key of ${signed.from ?? 'none'} instead of ${from}`);
  return signed;
}
