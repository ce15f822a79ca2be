import { type ApiKeys, createApiKeys } from '../auth/api-keys';
import { createNonces } from '../auth/nonces';
import { createSessions, type Sessions } from '../auth/sessions';
import { createSignIn, type SignIn, type VerifyContractSignature } from '../auth/siwe';
import { createTokens } from '../auth/tokens';
import type { Config } from '../config/load';
import type { WalletSignatures } from '../exchange/wallet-signature';
import type { Logger } from '../log';
import { createNonceStore } from '../store/people/nonces';
import { openWalletSignatures } from './chain';
import type { Store } from './store';

/** The part of the composition root that identifies callers. */
export interface Access {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  /** Null where no node is configured: only keys sign then. */
  readonly walletSignatures: WalletSignatures | null;
  /** Identifies the caller by a session or an API key. */
  isLive(sid: string): Promise<boolean>;
  stop(): void;
}

/** Calls `onOver` for each session that logged out and each API key that was deleted. */
export function createAccess(
  config: Config,
  store: Store,
  log: Logger,
  onOver: (sid: string) => void,
): Access {
  const { run, sessionStore, keyStore, clock } = store;
  const { jwtSecrets: secrets, publicBaseUrl, chainId } = config;
  const audience = `chain:${chainId}`;
  const apiKeys = createApiKeys({ store: keyStore, nowMs: clock.now, onRemoved: onOver });
  const walletSignatures = openWalletSignatures(config, log, store.metrics);
  return {
    apiKeys,
    walletSignatures,
    sessions: createSessions({
      tokens: createTokens({ secrets, issuer: publicBaseUrl, audience, nowMs: clock.now }),
      apiKeys,
      store: sessionStore,
      onLogout: onOver,
    }),
    signIn: createSignIn({
      domain: new URL(publicBaseUrl).host,
      uri: publicBaseUrl,
      chainId,
      nonces: createNonces({ secrets, audience }),
      burnt: createNonceStore({ run }),
      verifyContractSignature: walletSignatures && signInSignatures(walletSignatures),
      nowMs: clock.now,
    }),
    isLive: async (sid) => (await apiKeys.isLive(sid)) ?? sessionStore.isLive(sid),
    stop: () => walletSignatures?.stop(),
  };
}

/**
 * Anybody may send a sign-in for any wallet, from many addresses. So all of them together have the part of one asker, and
 * however many there are, orders have the other turns.
 */
export const signInSignatures =
  (signatures: WalletSignatures): VerifyContractSignature =>
  (wallet, digest, signature) =>
    signatures.verify({ wallet, digest, signature, allowsUndeployed: true, asker: 'sign-in' });
