import { nonceKey } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/** Used sign-in nonces, each stored until it expires. `BurntNonces` of src/auth/siwe.ts documents the method. */
export function createNonceStore({ run }: { run: RunScript }) {
  return {
    burn: async (nonce: string, expiresAtMs: number): Promise<boolean> =>
      (await run('burn_nonce', [nonceKey(nonce)], [expiresAtMs])) === 1,
  };
}
