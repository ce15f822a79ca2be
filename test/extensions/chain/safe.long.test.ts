import { hashMessage, SigningKey, TypedDataEncoder } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../../src/auth/order-hash';
import { type ChainExchange, type ChainTrader, startChainExchange } from '../../support/chain-exchange';
import { patiently } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { domainOf, type Limit, type OpenMarket, openMarket, siweText } from '../../support/trader';
import { until as waitUntil } from '../../support/waiting';
import { createChain } from './rpc';
import { type ContractWallet, deployKernel, deploySafe, type Safe } from './wallets';

/** Contract wallets with FUNDS=chain, through the interface and their own transactions alone. The tests build on each other. */
let exchange: ChainExchange;
let market: OpenMarket;
let bob: ChainTrader;
let safe: Safe;
let council: Member;
const owners = Array.from({ length: 3 }, () => newKey()) as [SigningKey, SigningKey, SigningKey];

function newKey(): SigningKey {
  return new SigningKey(crypto.getRandomValues(new Uint8Array(32)));
}

/** Each look may ask the chain. */
const until: typeof waitUntil = (what, holds) => waitUntil(what, holds, { pollMs: 200 });
const chainOf = () => createChain(exchange.places.CHAIN_RPC_URL);

type Member = Awaited<ReturnType<typeof join>>;
/** A contract wallet that has signed in, with collateral and both approvals. */
async function join(wallet: ContractWallet) {
  const { client } = exchange;
  const message = siweText((await client.get(`/auth/nonce/${wallet.address}`)).body);
  const signature = await wallet.sign(hashMessage(message));
  const signedIn = await patiently(() => client.post('/auth/verify', { body: { message, signature } }));
  expect(signedIn.body).toMatchObject({ user: { address: wallet.address } });
  const token: string = signedIn.body.accessToken;
  const get = (path: string) => client.get(path, { token });
  const post = (path: string, body?: object) => client.post(path, { token, ...(body && { body }) });
  const balances = async () => (await get('/me/balances')).body;
  expect((await post('/me/faucet')).status).toBe(200);
  await until('the faucet has paid', async () => (await balances()).collateral?.total === '10000');
  await wallet.execute((await client.get('/config')).body.chain.approvals);
  await until('the approvals are final', async () => {
    const { approvals } = await balances();
    return approvals?.collateral.enough && approvals.conditionalTokens.approved;
  });

  /** The answer to an order that the wallet signs. */
  async function submit(limit: Limit) {
    const { address } = wallet;
    const fields = { ...bob.fields(market, limit), maker: address, signer: address, signatureType: 3 };
    const digest = TypedDataEncoder.hash(await domainOf(client), EIP712_ORDER_TYPES, fields);
    const body = { order: { ...fields, signature: await wallet.sign(digest) } };
    const path = `/markets/${market.id}/orders`;
    return (await patiently(() => client.post(path, { token, body }))).body;
  }
  return { wallet, get, post, balances, submit };
}

const fillsOf = async ({ get }: Pick<Member, 'get'>, orderHash: string) =>
  (await get(`/orders/${orderHash}`)).body.fills ?? [];
const untilSettled = (who: Pick<Member, 'get'>, orderHash: string, status: string) =>
  until(`the match is ${status}`, async () => {
    const fills = await fillsOf(who, orderHash);
    return (
      fills.length > 0 &&
      fills.every((fill: { settlementStatus: string }) => fill.settlementStatus === status)
    );
  });
/** Waits until the wallet holds that number of shares of each outcome. */
const untilHolds = (who: Member, yes: string, no: string) =>
  until(`the wallet holds ${yes} and ${no}`, async () => {
    const { tokens = [] } = await who.balances();
    const totals: string[] = [0, 1].map(
      (outcome) =>
        tokens.find(({ outcomeIndex }: { outcomeIndex: number }) => outcomeIndex === outcome)?.total ?? '0',
    );
    return totals.join() === [yes, no].join();
  });

beforeAll(async () => {
  exchange = await startChainExchange();
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  bob = await exchange.newTrader();
  await bob.post('/me/faucet');
  const { chain } = (await exchange.client.get('/config')).body;
  const balances = async () => (await bob.get('/me/balances')).body;
  await until('the faucet has paid', async () => (await balances()).collateral?.total === '10000');
  await bob.send(chain.approvals);
  await until(
    'the market is open',
    async () => (await exchange.client.get(`/markets/${market.id}`)).body.status === 'OPEN',
  );
  await bob.send((await bob.post(`/markets/${market.id}/split`, { size: '500' })).body.calls);
  await until('the tokens are final', async () => (await balances()).tokens?.length === 2);
});
afterAll(() => exchange?.stop());

test('a Safe that two of three owners sign for signs in, gets test funds and approves the exchange', async () => {
  safe = await deploySafe(chainOf(), owners, 2);
  council = await join(safe);
  expect((await council.balances()).collateral).toMatchObject({ total: '10000', available: '10000' });
});

test('the Safe buys from a key, and the match is final on the chain', async () => {
  const sale = await bob.submit(market, { side: 'SELL', outcome: 0, pips: 5_500, lots: 10_000 });
  expect(sale.body).toMatchObject({ status: 'OPEN' });
  const bought = await council.submit({ side: 'BUY', outcome: 0, pips: 6_000, lots: 10_000 });
  expect(bought).toMatchObject({ status: 'FILLED', averagePrice: '0.55' });
  await untilSettled(council, bought.orderHash, 'CONFIRMED');
  expect((await council.balances()).collateral).toMatchObject({ total: '9945', available: '9945' });
  await untilHolds(council, '100', '0');
});

test('the Safe splits, rests a sale that a Kernel takes, and both buy new tokens', async () => {
  const refused = await council.post(`/markets/${market.id}/split`, { size: '50' });
  expect(refused.body).toMatchObject({ status: 409, code: 'ON_CHAIN' });
  await safe.execute(refused.body.calls);
  await untilHolds(council, '150', '50');
  const kernel = await join(await deployKernel(chainOf(), newKey()));
  const sale = await council.submit({ side: 'SELL', outcome: 1, pips: 3_000, lots: 5_000 });
  expect(sale).toMatchObject({ status: 'OPEN' });
  const bought = await kernel.submit({ side: 'BUY', outcome: 1, pips: 3_000, lots: 5_000 });
  expect(bought).toMatchObject({ status: 'FILLED' });
  await untilSettled(kernel, bought.orderHash, 'CONFIRMED');
  await untilHolds(kernel, '0', '50');
  expect((await council.balances()).collateral).toMatchObject({ total: '9910', available: '9910' });
  // Both buy, so the contract makes new tokens for them.
  const no = await council.submit({ side: 'BUY', outcome: 1, pips: 4_000, lots: 1_000 });
  const yes = await kernel.submit({ side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
  expect([no, yes]).toMatchObject([{ status: 'OPEN' }, { status: 'FILLED' }]);
  await untilSettled(kernel, yes.orderHash, 'CONFIRMED');
  await untilHolds(kernel, '10', '50');
  await untilHolds(council, '150', '10');
});
