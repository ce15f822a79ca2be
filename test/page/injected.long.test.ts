import { getBytes, Wallet } from 'ethers';
import type { Page } from 'playwright-core';
import {
  type BrowserStage,
  fillIn,
  place,
  reason,
  said,
  startBrowserStage,
  submit,
  takeTestWallet,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { soon } from '../support/waiting';

/** After this time without an answer the page says so. */
const LATE_MS = 3_000;

/** A browser's wallet as the page sees it: EIP-1193 in front, a real key behind. */
function createWallet() {
  const wallet = Wallet.createRandom();
  const asked: string[] = [];
  const own = { chainId: '0x1', declines: false, answers: Promise.resolve() };

  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    asked.push(method);
    if (own.declines) return { error: { code: 4001, message: 'User rejected the request.' } };
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return { result: [wallet.address.toLowerCase()] };
      case 'eth_chainId':
        return { result: own.chainId };
      case 'wallet_switchEthereumChain':
        own.chainId = (params[0] as { chainId: string }).chainId;
        return { result: null };
      case 'personal_sign':
        return { result: await wallet.signMessage(getBytes(String(params[0]))) };
      case 'eth_signTypedData_v4': {
        await own.answers;
        const { domain, types, primaryType, message } = JSON.parse(String(params[1]));
        const { EIP712Domain, ...rest } = types;
        const isWhole =
          EIP712Domain.length === 4 && rest[primaryType] && domain.chainId === Number(own.chainId);
        if (!isWhole) return { error: { code: -32602, message: 'invalid typed data' } };
        return { result: await wallet.signTypedData(domain, rest, message) };
      }
      default:
        return { error: { code: 4200, message: 'unsupported' } };
    }
  }

  return {
    address: wallet.address,
    asked,
    own,
    inject: async (page: Page): Promise<void> => {
      await page.exposeFunction('walletAnswer', answer);
      await page.addInitScript(`window.ethereum = {
        request: async ({ method, params }) => {
          const { result, error } = await window.walletAnswer(method, params ?? []);
          if (error) throw Object.assign(new Error(error.message), error);
          return result;
        },
      };`);
    },
  };
}

describeInBrowser('the wallet of the browser', () => {
  let stage: BrowserStage;
  beforeAll(async () => {
    stage = await startBrowserStage();
  });
  afterAll(() => stage?.stop());

  test('an injected wallet signs in, switches its network, trades, and is found again after a reload', async () => {
    const wallet = createWallet();
    const visit = await stage.open({}, wallet.inject);
    await visit.page.getByRole('button', { name: 'Connect wallet' }).click();
    const account = visit.page.getByTestId('account');
    await account.filter({ hasText: '$' }).waitFor();
    await soon(() => account.getAttribute('data-address')).toBe(wallet.address);
    expect(await place(visit, { type: 'IOC', price: '55', shares: '10' })).toBe(
      'Bought 10 Yes for $5.50, pays $10 if Yes · See position',
    );
    expect(wallet.asked).toEqual(
      expect.arrayContaining(['eth_requestAccounts', 'personal_sign', 'wallet_switchEthereumChain']),
    );
    await visit.page.reload();
    await account.waitFor();
    expect(await place(visit, { price: '30', shares: '10' })).toMatch(/^Order placed: 10 at 30¢/);
    expect(wallet.asked.filter((method) => method === 'personal_sign')).toHaveLength(1);
    // As long as the wallet is open nothing is sent, and the page does not say that anything is.
    let sign = (): void => undefined;
    wallet.own.answers = new Promise((resolve) => {
      sign = resolve;
    });
    await visit.page.clock.install();
    await fillIn(visit, { price: '32', shares: '10' });
    await submit(visit);
    await visit.ticket.getByRole('button', { name: 'Confirm in your wallet' }).waitFor();
    await visit.page.clock.fastForward(LATE_MS);
    await soon(() => visit.ticket.locator('.ticket-said').textContent()).not.toMatch(/No answer|sent/);
    sign();
    expect(await said(visit)).toMatch(/^Order placed: 10 at 32¢/);
    wallet.own.declines = true;
    await fillIn(visit, { price: '31', shares: '10' });
    await submit(visit);
    await soon(() => reason(visit)).toBe('You declined in your wallet. Nothing was done.');
    expect(visit.complaints).toEqual([]);
  });

  test('without an injected wallet, the page says what to do instead', async () => {
    const visit = await stage.open();
    await visit.page.getByRole('button', { name: 'Connect wallet' }).click();
    await soon(() => visit.page.getByRole('alert').textContent()).toMatch(/no wallet was found/i);
    await takeTestWallet(visit);
    await visit.page.getByRole('button', { name: 'Account' }).click();
    await visit.page.getByRole('button', { name: 'Sign out' }).click();
    const again = await takeTestWallet(visit);
    await visit.page.reload();
    await soon(() => visit.page.getByTestId('account').getAttribute('data-address')).toBe(again);
  });
});
