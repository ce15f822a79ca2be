import { callsOf, type OwnTrade, sendCalls, type WalletCall } from 'ctf-exchange-client';
import { account, reloadAccount, reloadTrades, showBalances } from './account-data';
import { refusalsOnChain } from './chain-words';
import { client, type Wallet, wallet } from './exchange';
import { config } from './exchange-state';
import { testKey } from './sign-in';
import { microOf } from './units';
import { learnWords, WalletRefusal } from './words';

/** Transactions that a wallet sends itself with funds on a chain; loaded only where it has some. */

const POLL_MS = 1_000;
/** 60 s. */
const POLLS_MAX = 60;

/** The chain is asked again at this pace, because it sends no message to a wallet that has no orders. */
const REFRESH_MS = 3_000;
/** A trade is in a block, and then final, one or two seconds after the match. */
const FOLLOW_MS = 500;

/** Reports the step under way. */
type OnStep = (words: string) => void;

learnWords(refusalsOnChain(() => account.get().balances?.standing));

/** Resolves when all are in blocks. */
async function send(
  owner: Wallet,
  calls: readonly WalletCall[],
  onStep: OnStep = () => undefined,
): Promise<void> {
  const { chain, chainId } = config.get() ?? (await client.config());
  if (owner.kind === 'injected') {
    const { sendByWallet } = await import('./wallet-sending');
    return sendByWallet({ address: owner.address, chainId, calls, onStep });
  }
  if (!chain || chain.rpcUrl === null)
    throw new WalletRefusal('This exchange offers test wallets no way to the chain. Use your own wallet.');
  const { keyOf, testTransactionSigner } = await import('./wallet-test');
  onStep('Sent: waiting for blocks…');
  await sendCalls({ rpcUrl: chain.rpcUrl, chainId, signer: testTransactionSigner(keyOf(testKey())) }, calls);
}

/** Runs a request, or sends the transactions that the exchange asks for instead. True when the wallet sent them. */
export async function carryOut<T>(request: () => Promise<T>): Promise<T | null> {
  try {
    return await request();
  } catch (error) {
    const calls = callsOf(error);
    const owner = wallet.get();
    if (calls === null || owner === null) throw error;
    await send(owner, calls);
    return null;
  }
}

/** Sends transactions from the wallet that is signed in. */
export async function sendOwn(calls: readonly WalletCall[]): Promise<null> {
  const owner = wallet.get();
  if (owner) await send(owner, calls);
  return null;
}

async function until(isThere: () => boolean, what: string): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    showBalances(await client.balances());
    if (isThere()) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new WalletRefusal(`${what} Please try again in a minute.`);
}

export const hasCollateral = (): boolean => microOf(account.get().balances?.collateral.total ?? '0') > 0;

export function isApproved(): boolean {
  const approvals = account.get().balances?.approvals;
  return (approvals?.collateral.enough ?? false) && (approvals?.conditionalTokens.approved ?? false);
}

/** All that a wallet needs before its first order: for a test wallet test funds, for every wallet two approvals. */
export async function prepare(owner: Wallet, onStep: OnStep): Promise<void> {
  const { chain } = config.get() ?? (await client.config());
  if (owner.kind === 'test' && !hasCollateral()) {
    onStep('Test funds are on their way…');
    await client.faucet();
    await until(hasCollateral, 'The test funds are not there yet.');
  }
  const approvals = account.get().balances?.approvals;
  const isGiven = [approvals?.collateral.enough, approvals?.conditionalTokens.approved];
  await send(
    owner,
    (chain?.approvals ?? []).filter((_, i) => isGiven[i] !== true),
    onStep,
  );
  onStep('In a block: waiting until it is final…');
  await until(isApproved, 'Your approvals are not final yet.');
  reloadAccount();
}

const isFollowing = (): boolean =>
  wallet.get() !== null && config.get()?.chain != null && document.visibilityState === 'visible';
const isOpen = ({ settlementStatus }: OwnTrade): boolean =>
  settlementStatus !== 'CONFIRMED' && settlementStatus !== 'FAILED';

setInterval(() => {
  if (isFollowing()) client.balances().then(showBalances, () => undefined);
}, REFRESH_MS);
setInterval(() => {
  if (isFollowing() && account.get().trades?.some(isOpen)) reloadTrades();
}, FOLLOW_MS);
