import type { Signer } from 'ctf-exchange-client';
import { client, leave, live, useKind, type Wallet, wallet } from './exchange';
import { keep, kept } from './local-storage';
import { WalletRefusal } from './words';

const TEST_KEY = 'test-key';

/** Uses this browser's former test wallet again if there is one, because signing out must not lose its holdings. */
async function testWallet(): Promise<Signer> {
  const { keyOf, testSigner } = await import('./wallet-test');
  const key = keyOf(kept(TEST_KEY));
  keep(TEST_KEY, key);
  return testSigner(key);
}

export async function signInWithTestWallet(): Promise<void> {
  const signer = await testWallet();
  useKind('test');
  await client.signIn(signer);
}

/** Another account of the wallet is another person for this page. */
function onAccount(address: string): void {
  const now = wallet.get();
  if (now?.kind === 'injected' && address.toLowerCase() !== now.address.toLowerCase()) void leave();
}

const withInjected = () => import('./wallet-injected');

export async function signInWithInjected(): Promise<void> {
  const { chooseSigner, follow } = await withInjected();
  const signer = await chooseSigner();
  useKind('injected');
  await client.signIn(signer);
  follow(onAccount);
}

/** Signs orders for the signed-in wallet; throws a WalletRefusal if the wallet is out of reach. */
export async function signerOf({ address, kind }: Wallet): Promise<Signer> {
  const signer =
    kind === 'test' ? await testWallet() : await (await withInjected()).connectedSigner(client.config);
  if (signer.address.toLowerCase() !== address.toLowerCase()) {
    throw new WalletRefusal(
      'Your wallet is on another account than the one you signed in with. Switch it back, or sign out and in again.',
    );
  }
  return { ...signer, address };
}

export const signOut = leave;

/** After a reload the wallet becomes available a moment later than the page. */
if (wallet.get()?.kind === 'injected') {
  live.onConnect(() => void withInjected().then(({ follow }) => follow(onAccount)));
}

/** The key of this browser's test wallet, so that its owner can store it elsewhere. */
export const testKey = (): string => kept(TEST_KEY) ?? '';

/** Makes the next test wallet a new one. */
export async function forgetTestKey(): Promise<void> {
  await signOut();
  keep(TEST_KEY, null);
}
