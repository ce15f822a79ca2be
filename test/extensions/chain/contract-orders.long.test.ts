import { concat, dataSlice, id, SigningKey, TypedDataEncoder } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../../src/auth/order-hash';
import {
  type Call,
  type ChainExchange,
  type ChainTrader,
  startChainExchange,
} from '../../support/chain-exchange';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { type Domain, domainOf, type Limit, type OpenMarket, openMarket } from '../../support/trader';
import { until as waitUntil } from '../../support/waiting';
import { type Chain, createChain } from './rpc';
import { deploySafe, type Safe } from './wallets';
import { collateralAbi, ctfAbi, ONE } from './world';

/** Orders of contract wallets (signatureType 3) that the exchange contract settles. */
let exchange: ChainExchange;
let domain: Domain;
let market: OpenMarket;
let alice: ChainTrader;
let chain: Chain;
let safe: Safe;
/** Keys that get the code of a wallet. */
const wallets: ChainTrader[] = [];

const WALLETS = 3;
const [OWNER, SECOND, THIRD, NEXT] = ['owner', 'second', 'third', 'next'].map(
  (name) => new SigningKey(id(name)),
) as [SigningKey, SigningKey, SigningKey, SigningKey];
const YES: Limit = { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 };
const NO: Limit = { side: 'BUY', outcome: 1, pips: 4_000, lots: 1_000 };
/** Answers a call with its own selector, so it accepts signatures and tokens. */
const ECHO = '60e01b5f5260205ff3';

/** Takes 293,800 of the 300,000 gas that the contract gives a question about a signature. */
const SLOW = `0x5f3560e01c80631626ba7e14601857${ECHO}5b612c245b6001900380601c5750${ECHO}`;
/** Refuses every signature when the exchange contract asks. */
const twoFaced = (contract: string): string => `0x3373${contract.slice(2)}146028575f3560e01c${ECHO}5b5f5ffd`;
/** Refuses every signature in a block with an odd number. */
const BY_PARITY = `0x5f3560e01c80631626ba7e144316601a57${ECHO}5b5f5ffd`;

beforeAll(async () => {
  exchange = await startChainExchange();
  domain = await domainOf(exchange.client);
  chain = createChain(exchange.places.CHAIN_RPC_URL);
  safe = await deploySafe(chain, [OWNER, SECOND, THIRD], 2);
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  alice = await exchange.newTrader();
  for (let n = 0; n < WALLETS; n++) wallets.push(await exchange.newTrader());
  await Promise.all([equipSafe(), ...[alice, ...wallets].map(equip)]);
  await until('the market is open', async () => {
    const { status } = (await exchange.client.get(`/markets/${market.id}`)).body;
    return status === 'OPEN';
  });
});
afterAll(() => exchange?.stop());

/** Each look may ask the chain. */
const until: typeof waitUntil = (what, holds) => waitUntil(what, holds, { pollMs: 200 });
const balancesOf = async (trader: ChainTrader) => (await trader.get('/me/balances')).body;
const collateralOf = async (trader: ChainTrader) => (await balancesOf(trader)).collateral;
const digestOf = (fields: Record<string, unknown>): string =>
  TypedDataEncoder.hash(domain, EIP712_ORDER_TYPES, fields);

/** Collateral, and both approvals; while the wallet is a key, its transactions are easy to send. */
async function equip(trader: ChainTrader): Promise<void> {
  await trader.post('/me/faucet');
  await until('the faucet has paid', async () => (await collateralOf(trader)).total === '10000');
  const { chain } = (await exchange.client.get('/config')).body;
  await trader.send(chain.approvals as Call[]);
  await until('the approvals are final', async () => {
    const { approvals } = await balancesOf(trader);
    return approvals.collateral.enough && approvals.conditionalTokens.approved;
  });
}

/** A Safe has no session here, so it mints its collateral itself. */
async function equipSafe(): Promise<void> {
  const { contracts, chain: facts } = (await exchange.client.get('/config')).body;
  const mint = collateralAbi.encodeFunctionData('mint', [safe.address, 10_000n * ONE]);
  await safe.execute([{ to: contracts.collateral, data: mint }, ...facts.approvals]);
}

/** The balance on the chain of an outcome token. */
async function sharesOf(address: string, outcome: 0 | 1): Promise<bigint> {
  const { contracts } = (await exchange.client.get('/config')).body;
  const { tokenId } = market.outcomes[outcome] ?? {};
  return BigInt(String(await chain.read(contracts.conditionalTokens, ctfAbi, 'balanceOf', address, tokenId)));
}

function nextWallet(): ChainTrader {
  const wallet = wallets.pop();
  if (!wallet) throw new Error(`these tests have only ${WALLETS} wallets`);
  return wallet;
}

const fieldsOf = ({ address }: { readonly address: string }, limit: Limit) =>
  alice.fields(market, limit, { maker: address, signer: address, signatureType: 3 });
const ofSafe = async (limit: Limit) => {
  const fields = fieldsOf(safe, limit);
  return { ...fields, signature: await safe.sign(digestOf(fields)) };
};
const send = (order: object): Promise<Answer> =>
  exchange.client.post(`/markets/${market.id}/orders`, { body: { order } });

/** The order once the exchange has accepted it: a busy machine answers late, and one wallet says yes in some blocks only. */
async function accepted(order: object): Promise<string> {
  let answer = await send(order);
  await until('the order is accepted', async () => {
    if (answer.status !== 200) answer = await send(order);
    return answer.status === 200;
  });
  expect(answer.body).toMatchObject({ status: 'OPEN' });
  return answer.body.orderHash;
}

/** The answer to an order that the exchange refuses, whatever the chain says of its signature. */
async function refused(order: object): Promise<Answer> {
  let answer = await send(order);
  await until('the chain answers', async () => {
    if (answer.body.code === 'UNAVAILABLE') answer = await send(order);
    return answer.body.code !== 'UNAVAILABLE';
  });
  return answer;
}

async function withCode(trader: ChainTrader, code: string) {
  await exchange.ask('anvil_setCode', trader.address, code);
  return (limit: Limit) => accepted({ ...fieldsOf(trader, limit), signature: '0x1234' });
}

async function taken(limit = NO): Promise<string> {
  const { body } = await send(await alice.order(market, limit));
  expect(body).toMatchObject({ status: 'FILLED' });
  return body.orderHash;
}

/** The fill of the order when it is over. */
async function settled(orderHash: string) {
  const fillOf = async () => (await exchange.client.get(`/orders/${orderHash}`)).body.fills[0];
  await until('the match is over', async () =>
    ['CONFIRMED', 'FAILED'].includes((await fillOf()).settlementStatus),
  );
  return fillOf();
}

test('an order that two owners of a Safe signed, in 1,024 bytes, is settled on the chain', async () => {
  const order = await ofSafe(YES);
  // A Safe reads the signatures at the beginning, and not what follows them.
  const signature = dataSlice(concat([order.signature, new Uint8Array(1_024)]), 0, 1_024);
  await accepted({ ...order, signature });
  expect(await settled(await taken())).toMatchObject({ settlementStatus: 'CONFIRMED' });
  expect([await sharesOf(safe.address, 0), await sharesOf(alice.address, 1)]).toEqual([10n * ONE, 10n * ONE]);
});

test('a wallet that uses up the gas for its signature does not hold up the settlement', async () => {
  const place = await withCode(nextWallet(), SLOW);
  await place(YES);
  expect(await settled(await taken())).toMatchObject({ settlementStatus: 'CONFIRMED' });
});

test('an owner that is replaced between the match and its settlement fails it, and the other wallet gets all of its money back', async () => {
  const resting = await accepted(await ofSafe({ ...YES, pips: 1_000 }));
  await accepted(await ofSafe(YES));
  const before = await balancesOf(alice);
  await exchange.shell.exchange('chain', 'pause');
  const orderHash = await taken();
  await safe.swapOwner(OWNER, NEXT);
  await exchange.shell.exchange('chain', 'resume');
  expect(await settled(orderHash)).toMatchObject({
    settlementStatus: 'FAILED',
    failureReason: 'SIGNATURE',
    failedWallet: safe.address,
  });
  const after = await balancesOf(alice);
  expect(after.collateral).toEqual(before.collateral);
  const held = ({ tokens }: { tokens: { total: string; pending: string }[] }) =>
    tokens.map(({ total, pending }) => [total, pending]);
  expect(held(after)).toEqual(held(before));
  expect((await exchange.client.get(`/orders/${resting}`)).body).toMatchObject({ status: 'CANCELLED' });
  expect((await refused(await ofSafe(YES))).body).toMatchObject({ status: 403, code: 'WALLET_SUSPENDED' });
});

test('a wallet that accepts its order here and refuses it on the chain is suspended, and the other wallet loses nothing', async () => {
  const trader = nextWallet();
  const place = await withCode(trader, twoFaced(domain.verifyingContract));
  await place(YES);
  const before = await collateralOf(alice);
  const fill = await settled(await taken());
  expect(fill).toMatchObject({ settlementStatus: 'FAILED', failureReason: 'SIGNATURE' });
  expect(await collateralOf(alice)).toEqual(before);
  const next = await refused({ ...fieldsOf(trader, YES), signature: '0x1234' });
  expect(next.body).toMatchObject({ status: 403, code: 'WALLET_SUSPENDED' });
});

test('the match of a wallet that answers by the parity of the block is settled or fails, and the books say what the chain says', async () => {
  const trader = nextWallet();
  const place = await withCode(trader, BY_PARITY);
  await place(YES);
  const before = await collateralOf(alice);
  const { settlementStatus, failureReason } = await settled(await taken());
  expect([settlementStatus, failureReason]).toEqual(
    settlementStatus === 'FAILED' ? ['FAILED', 'SIGNATURE'] : ['CONFIRMED', undefined],
  );
  const isPaid = settlementStatus === 'CONFIRMED';
  expect(Number((await collateralOf(alice)).total)).toBe(Number(before.total) - (isPaid ? 4 : 0));
  expect(await collateralOf(trader)).toMatchObject({ total: isPaid ? '9994' : '10000', unsettled: '0' });
});
