import { nonceKey } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/** Used sign-in nonces, each stored until it expires. `BurntNonces` of src/auth/siwe.ts documents the methods. */
export function createNonceStore({ run }: { run: RunScript }) {
  return {
    burn: async (nonce: string, expiresAtMs: number): Promise<boolean> =>
      (await run('burn_nonce', [nonceKey(nonce)], [expiresAtMs, 1])) === 1,
    giveBack: async (nonce: string): Promise<void> => {
      await run('burn_nonce', [nonceKey(nonce)], [0, 0]);
    },
  };
}
