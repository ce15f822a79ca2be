import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createClient, isContractAt, sendCalls } from 'ctf-exchange-client';
import { safeWallet } from 'ctf-exchange-client/safe';
import { hashMessage, SigningKey, TypedDataEncoder, Wallet } from 'ethers';
import type { Browser, Page } from 'playwright-core';
import { hasPython, PACKAGE, PYTHON } from '../client/python-maker';
import { type Chain, createChain } from '../extensions/chain/rpc';
import { deploySafe } from '../extensions/chain/wallets';
import { fillIn, openMore, reason, submit } from '../support/browser-stage';
import { type ChainExchange, type ChainTrader, startChainExchange } from '../support/chain-exchange';
import { describeInBrowser, startChromium } from '../support/chromium';
import { blocksFor } from '../support/page-commands';
import { ADMIN_TOKEN } from '../support/settings';
import { type OpenMarket, openMarket } from '../support/trader';
import { soon, until as waitUntil } from '../support/waiting';
import { createContractProvider } from './safe-provider';

/** Contract wallets on a chain, by the page and by the clients. One exchange for all; the tests build on each other. */
const WAIT_MS = 90_000;
const STEP_MS_MAX = 150_000;
const GAS_MONEY = `0x${(10n ** 18n).toString(16)}`;
jest.setTimeout(600_000);

let exchange: ChainExchange;
let chain: Chain;
let market: OpenMarket;
let maker: ChainTrader;

/** Each look may ask the chain. */
const until: typeof waitUntil = (what, holds) => waitUntil(what, holds, { pollMs: 200, patienceMs: WAIT_MS });
const newKey = (): SigningKey => new SigningKey(Wallet.createRandom().privateKey);
const configOf = async () => (await exchange.client.get('/config')).body;
const offer = async (pips: number) => {
  const order = await maker.order(market, { side: 'SELL', outcome: 0, pips, lots: 1_000 });
  const { body } = await exchange.client.post(`/markets/${market.id}/orders`, { body: { order } });
  expect(body).toMatchObject({ status: 'OPEN' });
};

beforeAll(async () => {
  exchange = await startChainExchange();
  chain = createChain(exchange.places.CHAIN_RPC_URL);
  maker = await exchange.newTrader();
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  await maker.post('/me/faucet');
  const { approvals } = (await configOf()).chain;
  const balances = async () => (await maker.get('/me/balances')).body;
  await until('the maker has money', async () => (await balances()).collateral.total === '10000');
  await maker.send(approvals);
  const isOpen = async () => (await exchange.client.get(`/markets/${market.id}`)).body.status === 'OPEN';
  await until('the market is open', isOpen);
  const { calls } = (await maker.post(`/markets/${market.id}/split`, { size: '500' })).body;
  await maker.send(calls);
  await until('the maker has shares', async () => (await balances()).tokens.length === 2);
});
afterAll(() => exchange?.stop());

test('a Safe of two owners signs in, approves, trades and settles by the TypeScript client', async () => {
  const keys = [newKey(), newKey(), newKey()];
  const { address } = await deploySafe(chain, keys, 2);
  const [first, second] = keys.map((key) => new Wallet(key)) as [Wallet, Wallet];
  await exchange.ask('anvil_setBalance', first.address, GAS_MONEY);
  const client = createClient({ baseUrl: exchange.url });
  const { chain: terms, chainId } = await client.config();
  const rpcUrl = String(terms?.rpcUrl);
  expect(await Promise.all([address, first.address].map((one) => isContractAt(rpcUrl, one)))).toEqual([
    true,
    false,
  ]);
  const hashTypedData = TypedDataEncoder.hash;
  const signer = safeWallet({ address, chainId, owners: [first, second], hashMessage, hashTypedData });
  const node = { rpcUrl, chainId, signer };
  expect((await client.signIn(signer)).address).toBe(address);
  await client.faucet();
  await until('the Safe has money', async () => (await client.balances()).collateral.total === '10000');
  const alone = safeWallet({ address, chainId, owners: [first], hashMessage, hashTypedData });
  await expect(sendCalls({ rpcUrl, chainId, signer: alone }, terms?.approvals ?? [])).rejects.toThrow(
    'the Safe needs 2 owners to sign, and has 1 here',
  );
  expect(await sendCalls(node, terms?.approvals ?? [])).toHaveLength(2);
  await until('the approvals are final', async () => {
    const { approvals } = await client.balances();
    return (approvals?.collateral.enough && approvals.conditionalTokens.approved) ?? false;
  });
  await offer(5_000);
  const order = { outcomeIndex: 0, side: 'BUY', price: '0.5', size: '10' } as const;
  const placed = await client.placeOrder(signer, market.id, order);
  expect(placed).toMatchObject({ status: 'FILLED', signed: { signatureType: 3, maker: address } });
  await until('the fill is final', async () => {
    const { fills } = await client.order(placed.orderHash);
    return fills[0]?.settlementStatus === 'CONFIRMED';
  });
});

(hasPython ? test : test.skip)('a Safe signs in and orders by the Python client', async () => {
  const keys = [newKey(), newKey()];
  const { address, execute } = await deploySafe(chain, keys, 2);
  const program = [
    'import sys, time',
    'from ctf_exchange import Client, NewOrder, Wallet, safe_wallet',
    'url, market, address, chain_id, *keys = sys.argv[1:]',
    'client = Client(url, safe_wallet(address, [Wallet(key) for key in keys], int(chain_id)))',
    'if client.balances()["collateral"]["total"] == "0":',
    '    client.faucet()',
    '    print("waiting")',
    '    sys.exit()',
    'placed = client.place(client.trading(market), NewOrder(0, "BUY", size="10", price="0.1"))',
    'print(placed["status"], client.cancel(placed["orderHash"])["status"])',
  ].join('\n');
  const { chainId, chain: terms } = await configOf();
  const secrets = keys.map(({ privateKey }) => privateKey);
  const run = async () => {
    const args = ['-c', program, exchange.url, market.id, address, String(chainId), ...secrets];
    const env = { ...process.env, PYTHONPATH: PACKAGE };
    return (await promisify(execFile)(PYTHON, args, { env })).stdout.trim();
  };
  expect(await run()).toBe('waiting');
  await execute(terms.approvals);
  const transfers = async () => BigInt(String(await exchange.ask('eth_getBalance', address, 'latest')));
  await until('the faucet has paid', async () => (await transfers()) > 0n);
  await until('the Safe has ordered', async () => (await run().catch(() => '')) === 'OPEN CANCELLED');
});

(hasPython ? test : test.skip)(
  'a Safe approves and orders by the programs of clients/python/README.md',
  async () => {
    const keys = [newKey(), newKey()];
    const { address } = await deploySafe(chain, keys, 1);
    const { chainId, chain: terms } = await configOf();
    const blocks = blocksFor('clients/python/README.md', 'test/page/contract-wallets.long.test.ts');
    expect(blocks).toHaveLength(2);
    const program = [
      'import sys, time',
      'from ctf_exchange import NewOrder, send_calls',
      'url, market, address, chain_id, first_key, second_key = sys.argv[1:]',
      'chain_id, sign = int(chain_id), lambda digest: "0x"',
      blocks[0]?.text.replace('"http://localhost:3000"', 'url') ?? '',
      'chain = client.config()["chain"]',
      'client.faucet()',
      blocks[1]?.text ?? '',
      'give_up = time.monotonic() + 60',
      'while not client.balances()["approvals"]["collateral"]["enough"] and time.monotonic() < give_up:',
      '    time.sleep(0.2)',
      'while client.balances()["collateral"]["total"] == "0" and time.monotonic() < give_up:',
      '    time.sleep(0.2)',
      'print(client.place(client.trading(market), NewOrder(0, "BUY", size="10", price="0.1"))["status"])',
    ].join('\n');
    expect(terms.rpcUrl).not.toBeNull();
    const [first, second] = keys.map((key) => new Wallet(key)) as [Wallet, Wallet];
    await exchange.ask('anvil_setBalance', first.address, GAS_MONEY);
    const args = ['-c', program, exchange.url, market.id, address, String(chainId)];
    const { stdout } = await promisify(execFile)(PYTHON, [...args, first.privateKey, second.privateKey], {
      env: { ...process.env, PYTHONPATH: PACKAGE },
    });
    expect(stdout.trim()).toBe('OPEN');
  },
);

describeInBrowser('a contract wallet in the browser', () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  async function visit(inject: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
    context.setDefaultTimeout(STEP_MS_MAX);
    page = await context.newPage();
    page.on('pageerror', ({ message }) => complaints.push(message));
    await inject(page);
    await page.goto(`${exchange.url}/m/${market.slug}`);
    await page.getByRole('button', { name: 'Connect wallet' }).click();
    await page.getByTestId('account').waitFor();
  }

  /** Test funds come with the approvals' card. */
  async function takeFunds(): Promise<void> {
    const button = page.getByTestId('approvals').getByRole('button', { name: 'Get test funds' });
    await button.click();
    await button.waitFor({ state: 'detached' });
  }

  const approve = (): Promise<void> =>
    page.getByTestId('approvals').getByRole('button', { name: 'Approve in my wallet' }).click();
  const areApproved = (): Promise<void> => page.getByTestId('approvals').waitFor({ state: 'detached' });
  const ticket = () => page.getByTestId('ticket');

  async function buy(): Promise<void> {
    await openMore(ticket());
    await ticket().getByLabel('Shares').first().fill('10');
    await ticket().locator('button[type=submit]').click();
  }

  test('a Safe signs in, approves all with one request, buys, and sees the trade final', async () => {
    const wallet = await deploySafe(chain, [newKey()]);
    const provider = createContractProvider({ chain, wallet, isTogether: true });
    await visit(provider.inject);
    expect(await page.getByTestId('account').getAttribute('data-address')).toBe(wallet.address);
    await ticket().getByRole('button', { name: 'Approve the exchange first' }).waitFor();
    await takeFunds();
    await approve();
    await areApproved();
    const sent = provider.asked.filter((method) => /send/i.test(method));
    expect(sent).toEqual(['wallet_sendCalls']);
    await offer(5_500);
    await buy();
    await page.getByRole('button', { name: 'My trades' }).click();
    await page.locator('[data-testid=settlement][data-status=CONFIRMED]').waitFor();
    expect(provider.orders).toMatchObject([{ signatureType: 3, maker: wallet.address }]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('a wallet that takes single calls gets two requests from one click, and after a refusal another click repeats them', async () => {
    const wallet = await deploySafe(chain, [newKey(), newKey()]);
    const provider = createContractProvider({ chain, wallet, isTogether: false });
    await visit(provider.inject);
    await takeFunds();
    provider.declined.add('eth_sendTransaction');
    await approve();
    const told = page.getByTestId('approvals').getByRole('alert');
    await told.filter({ hasText: 'You declined in your wallet. Nothing was done.' }).waitFor();
    provider.declined.clear();
    await approve();
    await areApproved();
    expect(provider.asked.filter((method) => method === 'eth_sendTransaction')).toHaveLength(3);
  });

  test('a fill that fails says whose wallet was at fault, that nothing was paid, and until when the wallet is suspended', async () => {
    const wallet = await deploySafe(chain, [newKey()]);
    const provider = createContractProvider({ chain, wallet, isTogether: true });
    await page.context().close();
    await visit(provider.inject);
    await takeFunds();
    await approve();
    await areApproved();
    await offer(6_000);
    await exchange.shell.exchange('chain', 'pause');
    await buy();
    await page.getByTestId('pending').filter({ hasText: 'not yet spendable' }).waitFor();
    const { contracts } = await configOf();
    // So much that it can still order, but not pay.
    const words = [maker.wallet.address.slice(2), (9_998n * 10n ** 18n).toString(16)];
    const data = `0xa9059cbb${words.map((word) => word.padStart(64, '0')).join('')}`;
    await wallet.execute([{ to: contracts.collateral, data }]);
    await exchange.shell.exchange('chain', 'resume');
    const row = page.getByTestId('order-failed');
    await row.filter({ hasText: '10 shares on the chain. Failed: your wallet lacked the money' }).waitFor();
    await row.filter({ hasText: 'Nothing was paid.' }).waitFor();
    // It lasts for a minute.
    const suspension = page.getByTestId('suspension');
    await suspension.filter({ hasText: 'your wallet lacked the money' }).waitFor();
    const again = { page, ticket: ticket(), complaints, outside: [] };
    await fillIn(again, { price: '10', shares: '10' });
    await submit(again);
    await soon(() => reason(again)).toMatch(/^You may order again at .*: your wallet lacked the money/);
    await page.getByRole('button', { name: 'My trades' }).click();
    const trade = page.locator('[data-testid=settlement][data-status=FAILED]');
    await trade.filter({ hasText: 'Failed: your wallet lacked the money' }).waitFor();
    await page.getByRole('link', { name: 'Portfolio', exact: true }).click();
    await page.getByRole('button', { name: 'History' }).click();
    const reversal = page.locator('[data-testid=activity][data-type=REVERSAL]');
    await reversal.filter({ hasText: 'Failed: your wallet lacked the money' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
