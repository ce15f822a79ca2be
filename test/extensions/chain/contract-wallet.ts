import { randomBytes } from 'node:crypto';
import { AbiCoder, concat, hexlify, keccak256 } from 'ethers';

/**
 * A wallet that accepts a signature when the word of its storage at the hash of the question is not 0. Any other call is
 * answered with its own selector, so the wallet takes tokens (ERC-1155).
 */
const CODE =
  '0x5f3560e01c80631626ba7e1460185760e01b5f5260205ff35b365f5f37365f20546027575f5ffd5b60e01b5f5260205ff3';
const ONE = `0x${'1'.padStart(64, '0')}`;
const NONE = `0x${'0'.repeat(64)}`;
const coder = AbiCoder.defaultAbiCoder();

type Ask = (method: string, ...params: unknown[]) => Promise<unknown>;

/** Gives an address of a local chain this code; `ask` asks its node. */
export async function createContractWallet(ask: Ask, address: string) {
  await ask('anvil_setCode', address, CODE);
  const accepted: string[] = [];
  return {
    address,
    /** A signature of this length in bytes, which the wallet accepts for this digest until it is revoked. */
    async sign(digest: string, bytes = 97): Promise<string> {
      const signature = hexlify(randomBytes(bytes));
      const place = keccak256(
        concat(['0x1626ba7e', coder.encode(['bytes32', 'bytes'], [digest, signature])]),
      );
      await ask('anvil_setStorageAt', address, place, ONE);
      accepted.push(place);
      return signature;
    },
    /** From now on the wallet accepts none of the signatures that it made. */
    async revoke(): Promise<void> {
      for (const place of accepted) await ask('anvil_setStorageAt', address, place, NONE);
    },
  };
}
