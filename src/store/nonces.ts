import type { RunScript } from './scripts';

const nonceKey = (address: string): string => `{n:${address.toLowerCase()}}`;

/**
 * Sign-in nonces, one sorted set for each address. What each method must do is said where it is used, at
 * `NonceStore` of src/auth/siwe.ts.
 */
export function createNonceStore({ run }: { run: RunScript }) {
  return {
    issue: async (address: string, nonce: string, ttlSec: number, max: number): Promise<void> => {
      await run('issue_nonce', [nonceKey(address)], [nonce, ttlSec * 1_000, max]);
    },

    burn: async (address: string, nonce: string): Promise<boolean> =>
      Number(await run('burn_nonce', [nonceKey(address)], [nonce])) === 1,
  };
}
