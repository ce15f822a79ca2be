import type { Wallet } from 'ethers';
import { SiweMessage } from 'siwe';
import { createNonces } from '../../src/auth/nonces';
import { createSignIn, type SignIn, type SignInOptions } from '../../src/auth/siwe';
import { parseJwtSecrets } from '../../src/auth/tokens';
import { ENVIRONMENT } from '../support/settings';
import { refusal } from './orders';

export const HOME = { domain: 'exchange.test:8443', uri: 'https://exchange.test:8443', chainId: 97 };

const nonces = createNonces({
  secrets: parseJwtSecrets(ENVIRONMENT.JWT_SECRET),
  audience: 'chain:97',
});

export const createSignInHere = (more: Pick<SignInOptions, 'burnt'> & Partial<SignInOptions>): SignIn =>
  createSignIn({ ...HOME, nonces, nowMs: Date.now, ...more });

/** The message that a client writes from the challenge, with changes. */
export async function messageOf(
  signIn: SignIn,
  wallet: Wallet,
  more: Partial<SiweMessage> = {},
): Promise<string> {
  const { address, domain, uri, version, chainId, nonce, statement, issuedAt } = signIn.challenge(
    wallet.address,
  );
  return new SiweMessage({
    address,
    domain,
    uri,
    version,
    chainId,
    nonce,
    statement,
    issuedAt,
    ...more,
  }).prepareMessage();
}

/** The code of the refusal, and its field. */
export async function refusedBy(by: SignIn, text: unknown, signature: unknown): Promise<string> {
  const { code, field } = await refusal(() => by.verify(text, signature));
  return field === undefined ? code : `${code} ${String(field)}`;
}
