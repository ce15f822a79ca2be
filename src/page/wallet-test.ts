import type { Signer, TransactionSigner } from 'ctf-exchange-client';
import { SigningKey } from 'ethers/crypto';
import { hashMessage, TypedDataEncoder } from 'ethers/hash';
import { computeAddress, Transaction } from 'ethers/transaction';

/** A wallet with a single key, loaded only where a test wallet is used. It shares nothing with the first view, so it need not import app.tsx. */

const KEY = /^0x[0-9a-f]{64}$/;
const KEY_BYTES = 32;

/** The stored key, or a new one. */
export function keyOf(kept: string | null): string {
  if (kept !== null && KEY.test(kept)) return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export function testSigner(key: string): Signer {
  const signing = new SigningKey(key);
  return {
    address: computeAddress(key),
    signMessage: async (text) => signing.sign(hashMessage(text)).serialized,
    signTypedData: async (domain, types, value) =>
      signing.sign(TypedDataEncoder.hash(domain, types, value)).serialized,
  };
}

/** Signs transactions of a test wallet, with funds on a chain. */
export function testTransactionSigner(key: string): TransactionSigner {
  return {
    address: computeAddress(key),
    async signTransaction(unsigned) {
      const transaction = Transaction.from(unsigned);
      transaction.signature = new SigningKey(key).sign(transaction.unsignedHash);
      return transaction.serialized;
    },
  };
}
