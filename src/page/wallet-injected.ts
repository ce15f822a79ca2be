import type { Eip712Domain, Signer, WalletCall } from 'ctf-exchange-client';
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

export const injected = (): Provider | null => window.ethereum ?? announced[0] ?? null;

const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

/** Names the request that the wallet refused. */
async function ask(provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    if (codeOf(error) === REJECTED) throw new WalletRefusal('You declined in your wallet. Nothing was done.');
    const message =
      typeof error === 'object' && error !== null && 'message' in error
        ? String(error.message)
        : String(error);
    throw new WalletRefusal(`Your wallet says: ${message}`);
  }
}

/** The account that the person chose; `silent` shows no prompt, and returns null if no account is connected. */
export async function accountOf(provider: Provider, silent = false): Promise<string | null> {
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

export function injectedSigner(provider: Provider, address: string): Signer {
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

const BLOCK_POLL_MS = 500;
/** 2 min, because a person reads before confirming. */
const BLOCK_POLLS_MAX = 240;

interface Sending {
  readonly address: string;
  readonly chainId: number;
  readonly calls: readonly WalletCall[];
}

/** The wallet asks its owner about each transaction; the next one is sent when the one before is in a block. */
export async function sendByWallet(provider: Provider, { address, chainId, calls }: Sending): Promise<void> {
  await beOnChain(provider, { chainId });
  for (const { to, data } of calls) {
    const hash = await ask(provider, 'eth_sendTransaction', [{ from: address, to, data }]);
    await untilMined(provider, String(hash));
  }
}

async function untilMined(provider: Provider, hash: string): Promise<void> {
  for (let poll = 0; poll < BLOCK_POLLS_MAX; poll++) {
    const receipt = (await ask(provider, 'eth_getTransactionReceipt', [hash])) as { status?: string } | null;
    if (receipt?.status === '0x1') return;
    if (receipt) throw new WalletRefusal('The chain refused the transaction. Nothing was done.');
    await new Promise((resolve) => setTimeout(resolve, BLOCK_POLL_MS));
  }
  throw new WalletRefusal('The transaction is in no block yet. Look into your wallet.');
}

/** For wallets that show a network's name. */
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
async function beOnChain(provider: Provider, { chainId }: Pick<Eip712Domain, 'chainId'>): Promise<void> {
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
