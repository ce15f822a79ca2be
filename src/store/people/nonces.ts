import { nonceKey } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/**
 * Sign-in nonces that were used, each until it would have ended anyway. What the method must do is said where it is
 * used, at `BurntNonces` of src/auth/siwe.ts.
 */
export function createNonceStore({ run }: { run: RunScript }) {
  return {
    burn: async (nonce: string, expiresAtMs: number): Promise<boolean> =>
      (await run('burn_nonce', [nonceKey(nonce)], [expiresAtMs])) === 1,
  };
}
