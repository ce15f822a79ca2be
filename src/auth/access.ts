import type { Config } from '../config/load';
import type { WalletSignatures } from '../exchange/wallet-signature';
import { type ApiKeys, createApiKeys, type KeyStore } from './api-keys';
import { createNonces } from './nonces';
import { createSessions, type SessionStore, type Sessions } from './sessions';
import { type BurntNonces, createSignIn, type SignIn, type VerifyContractSignature } from './siwe';
import { createTokens } from './tokens';

/** Signs callers in, and identifies them by a session or an API key. */
export interface Access {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  /** Whether the session or the API key with this id is live. */
  isLive(sid: string): Promise<boolean>;
}

interface AccessOptions {
  readonly config: Pick<Config, 'jwtSecrets' | 'publicBaseUrl' | 'chainId'>;
  readonly sessionStore: SessionStore;
  readonly keyStore: KeyStore;
  readonly burntNonces: BurntNonces;
  /** Null where no node is configured: only keys sign then. */
  readonly walletSignatures: WalletSignatures | null;
  /** The clock of Redis. */
  readonly nowMs: () => number;
  /** Called for each session that logged out and each API key that was deleted. */
  readonly onOver: (sid: string) => void;
}

export function createAccess({
  config,
  sessionStore,
  keyStore,
  nowMs,
  onOver,
  ...parts
}: AccessOptions): Access {
  const { burntNonces, walletSignatures } = parts;
  const { jwtSecrets: secrets, publicBaseUrl, chainId } = config;
  const audience = `chain:${chainId}`;
  const apiKeys = createApiKeys({ store: keyStore, nowMs, onRemoved: onOver });
  return {
    apiKeys,
    sessions: createSessions({
      tokens: createTokens({ secrets, issuer: publicBaseUrl, audience, nowMs }),
      apiKeys,
      store: sessionStore,
      onLogout: onOver,
    }),
    signIn: createSignIn({
      domain: new URL(publicBaseUrl).host,
      uri: publicBaseUrl,
      chainId,
      nonces: createNonces({ secrets, audience }),
      burnt: burntNonces,
      verifyContractSignature: walletSignatures && signInSignatures(walletSignatures),
      nowMs,
    }),
    isLive: async (sid) => (await apiKeys.isLive(sid)) ?? sessionStore.isLive(sid),
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
