import './app'; // In one chunk with the first view: see scripts/build-page.js.
import type { Eip712Domain, ExchangeConfig, Signer } from 'ctf-exchange-client';
import { WalletRefusal } from './words';

/** A browser's wallet, EIP-1193. */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: (...args: unknown[]) => void): void;
}

declare global {
  interface Window {
    ethereum?: Provider;
  }
}

const announced: Provider[] = [];

/** EIP-6963: wallets that announce themselves, even if `window.ethereum` is taken or missing. */
addEventListener('eip6963:announceProvider', (event) => {
  const { provider } = (event as CustomEvent<{ readonly provider: Provider }>).detail;
  if (!announced.includes(provider)) announced.push(provider);
});
dispatchEvent(new Event('eip6963:requestProvider'));

const injected = (): Provider | null => window.ethereum ?? announced[0] ?? null;

export const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;

export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

/** The refusal of the wallet in words. */
export function refusalOf(error: unknown): WalletRefusal {
  if (error instanceof WalletRefusal) return error;
  if (codeOf(error) === REJECTED) return new WalletRefusal('You declined in your wallet. Nothing was done.');
  const message =
    typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
  if (/insufficient funds/i.test(message))
    return new WalletRefusal('Your wallet has too little money for gas on this network. Nothing was done.');
  return new WalletRefusal(`Your wallet says: ${message}`);
}

export async function ask(
  provider: Provider,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The account that the person chose; `silent` shows no prompt, and returns null if no account is connected. */
async function accountOf(provider: Provider, silent = false): Promise<string | null> {
  const accounts = await ask(provider, silent ? 'eth_accounts' : 'eth_requestAccounts');
  const [first] = Array.isArray(accounts) ? accounts : [];
  return typeof first === 'string' ? first : null;
}

const hexOf = (text: string): string =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

function injectedSigner(provider: Provider, address: string): Signer {
  const signed = async (method: string, params: readonly unknown[]): Promise<string> => {
    const signature = await ask(provider, method, params);
    if (typeof signature !== 'string') throw new WalletRefusal('Your wallet gave no signature.');
    return signature;
  };
  return {
    address,
    signMessage: (text) => signed('personal_sign', [hexOf(text), address]),
    async signTypedData(domain, types, message) {
      await beOnChain(provider, domain);
      const primaryType = Object.keys(types)[0] ?? '';
      const document = { domain, types: { EIP712Domain: DOMAIN_TYPE, ...types }, primaryType, message };
      return signed('eth_signTypedData_v4', [address, JSON.stringify(document)]);
    },
  };
}

/** The wallet of this browser, for a person who has chosen none yet. */
export async function chooseSigner(): Promise<Signer> {
  const provider = injected();
  if (!provider) {
    throw new WalletRefusal(
      'No wallet was found in this browser. Install one, such as MetaMask, or use a test wallet: it takes one click.',
    );
  }
  const address = await accountOf(provider);
  if (address === null) throw new WalletRefusal('Your wallet gave no account.');
  return injectedSigner(provider, address);
}

/** The wallet that has signed in. */
export function connectedProvider(): Provider {
  const provider = injected();
  if (!provider) throw new WalletRefusal('The wallet you signed in with is not in this browser any more.');
  return provider;
}

type Terms = Pick<ExchangeConfig, 'chainId' | 'signatureTypes'>;

/** Signs orders; an account that is a contract signs in its own way. */
export async function connectedSigner(terms: () => Promise<Terms>): Promise<Signer> {
  const provider = connectedProvider();
  const address = (await accountOf(provider, true).catch(() => null)) ?? (await accountOf(provider));
  if (address === null) throw new WalletRefusal('Your wallet is locked. Unlock it and try again.');
  return { ...injectedSigner(provider, address), isContract: await isContract(provider, address, terms) };
}

/** EIP-7702: an account that has lent its address to a program signs with its key as before. */
const DELEGATED = '0xef0100';
/** The `signatureType` of a contract. */
const CONTRACT = 3;
const contracts = new Map<string, boolean>();

/** A wallet that does not say counts as one with a key. */
async function isContract(
  provider: Provider,
  address: string,
  terms: () => Promise<Terms>,
): Promise<boolean> {
  const known = contracts.get(address);
  if (known !== undefined) return known;
  const { chainId, signatureTypes } = await terms();
  // Others than keys cannot trade there at all.
  if (!signatureTypes.includes(CONTRACT)) return false;
  await beOnChain(provider, { chainId });
  const code = await provider
    .request({ method: 'eth_getCode', params: [address, 'latest'] })
    .catch(() => null);
  if (typeof code !== 'string') return false;
  const found = code !== '0x' && !code.toLowerCase().startsWith(DELEGATED);
  contracts.set(address, found);
  return found;
}

const followed = new WeakSet<Provider>();

/** Calls `onAccount` with each account that the person switches to. */
export function follow(onAccount: (address: string) => void): void {
  const provider = injected();
  if (!provider || followed.has(provider)) return;
  followed.add(provider);
  provider.on?.('accountsChanged', (accounts) =>
    onAccount(Array.isArray(accounts) ? String(accounts[0]) : ''),
  );
}

/** Parameters of `wallet_addEthereumChain`; wallets show the network's name. */
const CHAINS: Readonly<Record<number, object>> = {
  56: {
    chainName: 'BNB Smart Chain',
    nativeCurrency: { name: 'BNB', symbol: 'BNB', decimals: 18 },
    rpcUrls: ['https://bsc-dataseed.bnbchain.org'],
    blockExplorerUrls: ['https://bscscan.com'],
  },
  97: {
    chainName: 'BNB Smart Chain Testnet',
    nativeCurrency: { name: 'tBNB', symbol: 'tBNB', decimals: 18 },
    rpcUrls: ['https://data-seed-prebsc-1-s1.bnbchain.org:8545'],
    blockExplorerUrls: ['https://testnet.bscscan.com'],
  },
};

/** Most wallets sign only for their current network. A wallet that cannot report or switch it is asked to sign anyway. */
export async function beOnChain(
  provider: Provider,
  { chainId }: Pick<Eip712Domain, 'chainId'>,
): Promise<void> {
  const hex = `0x${chainId.toString(16)}`;
  const now = await provider.request({ method: 'eth_chainId' }).catch(() => null);
  if (typeof now !== 'string' || Number(now) === chainId) return;
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: hex }] });
  } catch (error) {
    if (codeOf(error) === REJECTED) {
      throw new WalletRefusal('Orders are signed for another network than your wallet is on: let it switch.');
    }
    const chain = CHAINS[chainId];
    if (codeOf(error) !== UNKNOWN_CHAIN || !chain) return;
    await ask(provider, 'wallet_addEthereumChain', [{ chainId: hex, ...chain }]);
  }
}
