import { getBytes, TypedDataEncoder } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../src/auth/order-hash';
import { createOrderVerifier, type OrderVerifier } from '../../src/auth/order-signature';
import type { SignedOrder } from '../../src/exchange/order';
import { alice, bob, DOMAIN, orderOf, refusal, signed } from './orders';

const COLLATERAL = '0xB32171ecD878607FFc4F8FC0bCcE6852BB3149E0';
const OTHER_EXCHANGE = '0x8BC070BEdAB741406F4B1Eb65A72bee27894B689';
const ZERO = `0x${'0'.repeat(40)}`;
const { name, version, chainId, verifyingContract } = DOMAIN;

let verifier: OrderVerifier;
beforeAll(async () => {
  verifier = await createOrderVerifier({
    ...DOMAIN,
    otherContracts: [COLLATERAL, OTHER_EXCHANGE],
    hintBudgetMs: Number.POSITIVE_INFINITY,
  });
});

const hintOf = async (order: SignedOrder) => {
  const { code, hint, expectedHash } = await refusal(() => verifier.verify(order, verifier.hash(order)));
  expect(code).toBe('INVALID_SIGNATURE');
  expect(expectedHash).toBe(verifier.hash(order));
  return hint;
};

test.each([
  ['CHAIN_ID', 'the other network', { ...DOMAIN, chainId: 56 }],
  ['CHAIN_ID', 'Ethereum', { ...DOMAIN, chainId: 1 }],
  ['CHAIN_ID', 'a local chain', { ...DOMAIN, chainId: 31337 }],
  ['CHAIN_ID', 'no chain id', { name, version, verifyingContract }],
  [
    'CHAIN_ID',
    "the other network and its exchange, for the right network's exchange comes with it",
    {
      ...DOMAIN,
      chainId: 56,
      verifyingContract: OTHER_EXCHANGE,
    },
  ],
  ['DOMAIN_TYPE', 'no member at all, as a wallet hashes JSON without EIP712Domain', {}],
  ['VERIFYING_CONTRACT', 'the zero address', { ...DOMAIN, verifyingContract: ZERO }],
  ['VERIFYING_CONTRACT', 'the collateral', { ...DOMAIN, verifyingContract: COLLATERAL }],
  ['VERIFYING_CONTRACT', 'no contract', { name, version, chainId }],
  ['DOMAIN_NAME', 'Polymarket', { ...DOMAIN, name: 'Polymarket CTF Exchange' }],
  ['DOMAIN_NAME', 'predict.fun', { ...DOMAIN, name: 'predict.fun CTF Exchange' }],
  ['DOMAIN_NAME', 'lower case', { ...DOMAIN, name: 'market ctf exchange' }],
  ['DOMAIN_NAME', 'no name', { version, chainId, verifyingContract }],
  ['VERSION', 'version 2', { ...DOMAIN, version: '2' }],
  ['VERSION', 'no version', { name, chainId, verifyingContract }],
  [null, 'two mistakes at once', { ...DOMAIN, chainId: 1, name: 'CTF Exchange' }],
  [null, 'a contract nobody knows', { ...DOMAIN, verifyingContract: bob.address }],
])('%s explains a domain with %s', async (hint, _, domain) => {
  expect(await hintOf(await signed(alice, orderOf(alice.address), domain))).toBe(hint);
});

test('MEMBER_ORDER explains members that were hashed in another order', async () => {
  const order = orderOf(alice.address);
  const members = EIP712_ORDER_TYPES.Order;
  const byName = [...members].sort((a, b) => (a.name < b.name ? -1 : 1));
  const sideLast = [...members.slice(0, 10), ...members.slice(10).reverse()];
  for (const Order of [byName, sideLast]) {
    expect(await hintOf({ ...order, signature: await alice.signTypedData(DOMAIN, { Order }, order) })).toBe(
      'MEMBER_ORDER',
    );
  }
});

test('PERSONAL_SIGN explains a personal message over the hash, as bytes and as text', async () => {
  const order = orderOf(alice.address);
  const hash = TypedDataEncoder.hash(DOMAIN, EIP712_ORDER_TYPES, order);
  expect(await hintOf({ ...order, signature: await alice.signMessage(getBytes(hash)) })).toBe(
    'PERSONAL_SIGN',
  );
  expect(await hintOf({ ...order, signature: await alice.signMessage(hash) })).toBe('PERSONAL_SIGN');
});

test('SIGNER explains a signer that is not the maker, whichever of them signed', async () => {
  const order = orderOf(alice.address, { signer: bob.address });
  for (const wallet of [alice, bob]) {
    const both = await signed(wallet, order);
    expect(await refusal(() => verifier.verify(both, verifier.hash(both)))).toMatchObject({
      hint: 'SIGNER',
      recovered: wallet.address,
    });
  }
});

test('an order that was changed after signing gets no hint', async () => {
  const order = await signed(alice, orderOf(alice.address));
  expect(await hintOf({ ...order, takerAmount: order.takerAmount + 1n })).toBeNull();
});

test('a customary name that is our own is no mistake', async () => {
  const ours = await createOrderVerifier({ ...DOMAIN, name: 'CTF Exchange' });
  const order = await signed(alice, orderOf(alice.address), { ...DOMAIN, name: 'CTF Exchange' });
  expect(ours.verify(order, ours.hash(order))).toHaveLength(65);
});

test('past the budget signatures are still refused, without a hint', async () => {
  const thrifty = await createOrderVerifier({ ...DOMAIN, hintBudgetMs: 0 });
  const order = await signed(alice, orderOf(alice.address), { ...DOMAIN, chainId: 56 });
  expect(await refusal(() => thrifty.verify(order, thrifty.hash(order)))).toMatchObject({
    code: 'INVALID_SIGNATURE',
    hint: null,
  });
});
