import { nonceKey } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/**
 * Sign-in nonces that were used, each until it would have ended anyway. `BurntNonces` of src/auth/siwe.ts explains what
 * the method must do.
 */
export function createNonceStore({ run }: { run: RunScript }) {
  return {
    burn: async (nonce: string, expiresAtMs: number): Promise<boolean> =>
      (await run('burn_nonce', [nonceKey(nonce)], [expiresAtMs])) === 1,
  };
}
