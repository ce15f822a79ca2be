import './app'; // In one chunk with the first view: see scripts/build-page.js.
import type { WalletCall } from 'ctf-exchange-client';
import {
  ask,
  beOnChain,
  codeOf,
  connectedProvider,
  type Provider,
  REJECTED,
  refusalOf,
} from './wallet-injected';
import { WalletRefusal } from './words';

/** Transactions that the wallet of a browser sends: together where it can (EIP-5792), else one after the other. */

export interface Sending {
  readonly address: string;
  readonly chainId: number;
  readonly calls: readonly WalletCall[];
  /** Reports the step under way. */
  onStep(words: string): void;
}

const POLL_MS = 500;
/** 2 min, because a person reads before confirming, and other owners may have to confirm, too. */
const POLLS_MAX = 240;

/** Resolves when all are in blocks. */
export async function sendByWallet(sending: Sending): Promise<void> {
  if (sending.calls.length === 0) return;
  const provider = connectedProvider();
  await beOnChain(provider, sending);
  const isSent = (await canSendTogether(provider, sending)) && (await sendTogether(provider, sending));
  if (!isSent) await sendEach(provider, sending);
}

const hexOf = (chainId: number): string => `0x${chainId.toString(16)}`;

/** A wallet that would have to become a program first (`ready`) is asked to only where that saves a request. */
async function canSendTogether(provider: Provider, { address, chainId, calls }: Sending): Promise<boolean> {
  const params = [address, [hexOf(chainId)]];
  const found = (await provider.request({ method: 'wallet_getCapabilities', params }).catch(() => null)) as
    | { readonly [chain: string]: { readonly atomic?: { readonly status?: string } } | undefined }
    | null
    | undefined;
  const status = found?.[hexOf(chainId)]?.atomic?.status;
  return status === 'supported' || (status === 'ready' && calls.length > 1);
}

/** The person did not want the account to become a program. */
const UPGRADE_REJECTED = 5750;

/** One request for all calls, of which all run or none. False: the wallet wants them one by one. */
async function sendTogether(
  provider: Provider,
  { address, chainId, calls, onStep }: Sending,
): Promise<boolean> {
  onStep(
    calls.length === 1
      ? 'Confirm in your wallet.'
      : `Confirm in your wallet: one request for all ${calls.length}.`,
  );
  const request = {
    version: '2.0.0',
    from: address,
    chainId: hexOf(chainId),
    atomicRequired: true,
    calls: calls.map(({ to, data }) => ({ to, data, value: '0x0' })),
  };
  let sent: unknown;
  try {
    sent = await provider.request({ method: 'wallet_sendCalls', params: [request] });
  } catch (error) {
    if (codeOf(error) === UPGRADE_REJECTED) return false;
    throw refusalOf(error);
  }
  const id = typeof sent === 'object' && sent !== null && 'id' in sent ? sent.id : sent;
  onStep(IN_BLOCK);
  await until(async () => {
    const { status } = (await ask(provider, 'wallet_getCallsStatus', [id])) as { readonly status: number };
    if (status >= FAILED_FROM)
      throw new WalletRefusal('The chain refused the transactions. Nothing was done.');
    return status >= DONE_FROM;
  });
  return true;
}

/** As HTTP: 1xx waits, 2xx is done, the others have failed. */
const DONE_FROM = 200;
const FAILED_FROM = 300;
const IN_BLOCK = 'Sent: waiting for a block…';

/** The wallet asks its owner about each; the next one is sent when the one before is in a block. */
async function sendEach(provider: Provider, { address, calls, onStep }: Sending): Promise<void> {
  for (const [at, { to, data, description }] of calls.entries()) {
    onStep(`Confirm ${at + 1} of ${calls.length} in your wallet: ${description}`);
    const request = { method: 'eth_sendTransaction', params: [{ from: address, to, data }] };
    const hash = await provider.request(request).catch((error: unknown) => {
      if (at > 0 && codeOf(error) === REJECTED)
        throw new WalletRefusal(
          'You declined in your wallet. What you confirmed before stands; the rest is not done.',
        );
      throw refusalOf(error);
    });
    onStep(IN_BLOCK);
    await until(() => isMined(provider, hash));
  }
}

async function isMined(provider: Provider, hash: unknown): Promise<boolean> {
  const receipt = (await ask(provider, 'eth_getTransactionReceipt', [hash])) as { status?: string } | null;
  if (receipt && receipt.status !== '0x1')
    throw new WalletRefusal('The chain refused the transaction. Nothing was done.');
  return receipt !== null;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new WalletRefusal(
    'It is in no block yet. Look into your wallet: does another owner have to confirm it?',
  );
}
