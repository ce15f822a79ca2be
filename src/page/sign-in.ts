import type { Signer, TransactionSigner, WalletCall } from 'ctf-exchange-client';
import { client, leave, live, useKind, type Wallet, wallet } from './exchange';
import { keep, kept } from './kept';
import type { Provider } from './wallet-injected';
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

const withInjected = () => import('./wallet-injected');

export async function signInWithInjected(): Promise<void> {
  const { accountOf, injected, injectedSigner } = await withInjected();
  const provider = injected();
  if (!provider) {
    throw new WalletRefusal(
      'No wallet was found in this browser. Install one, such as MetaMask, or use a test wallet: it takes one click.',
    );
  }
  const address = await accountOf(provider);
  if (address === null) throw new WalletRefusal('Your wallet gave no account.');
  useKind('injected');
  await client.signIn(injectedSigner(provider, address));
  follow(provider);
}

/** Signs orders for the signed-in wallet; throws a WalletRefusal if the wallet is out of reach. */
export async function signerOf({ address, kind }: Wallet): Promise<Signer> {
  const signer = kind === 'test' ? await testWallet() : await connected();
  if (signer.address.toLowerCase() !== address.toLowerCase()) {
    throw new WalletRefusal(
      'Your wallet is on another account than the one you signed in with. Switch it back, or sign out and in again.',
    );
  }
  return { ...signer, address };
}

/** Signs transactions of this browser's test wallet. */
export async function transactionSignerOf(): Promise<TransactionSigner> {
  const { keyOf, testTransactionSigner } = await import('./wallet-test');
  return testTransactionSigner(keyOf(kept(TEST_KEY)));
}

/** Lets the browser's wallet send transactions, one after the other; resolves when all are in blocks. */
export async function transactionsOf(
  owner: Wallet,
  chainId: number,
  calls: readonly WalletCall[],
): Promise<void> {
  const { injected, sendByWallet } = await withInjected();
  const provider = injected();
  if (!provider) throw new WalletRefusal('The wallet you signed in with is not in this browser any more.');
  await sendByWallet(provider, { address: owner.address, chainId, calls });
}

async function connected(): Promise<Signer> {
  const { accountOf, injected, injectedSigner } = await withInjected();
  const provider = injected();
  if (!provider) throw new WalletRefusal('The wallet you signed in with is not in this browser any more.');
  const address = (await accountOf(provider, true).catch(() => null)) ?? (await accountOf(provider));
  if (address === null) throw new WalletRefusal('Your wallet is locked. Unlock it and try again.');
  return injectedSigner(provider, address);
}

export async function signOut(): Promise<void> {
  await leave();
}

const followed = new WeakSet<Provider>();

/** Another account of the wallet is another person for this page. */
function follow(provider: Provider): void {
  if (followed.has(provider)) return;
  followed.add(provider);
  provider.on?.('accountsChanged', (accounts) => {
    const now = wallet.get();
    const [first] = Array.isArray(accounts) ? accounts : [];
    if (now?.kind === 'injected' && String(first).toLowerCase() !== now.address.toLowerCase()) void signOut();
  });
}

/** After a reload the wallet becomes available a moment later than the page. */
if (wallet.get()?.kind === 'injected') {
  live.onConnect(() => {
    void withInjected().then(({ injected }) => {
      const provider = injected();
      if (provider) follow(provider);
    });
  });
}

/** The key of this browser's test wallet, so that its owner can store it elsewhere. */
export const testKey = (): string => kept(TEST_KEY) ?? '';

/** Makes the next test wallet a new one. */
export async function forgetTestKey(): Promise<void> {
  await signOut();
  keep(TEST_KEY, null);
}
