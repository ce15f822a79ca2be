import { TypedDataEncoder } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../src/auth/order-hash';
import { createOrderVerifier, type OrderVerifier } from '../../src/auth/order-signature';
import { BACKENDS } from '../../src/auth/recovery';
import { alice, DOMAIN, orderOf, randomOrder } from './orders';

let verifier: OrderVerifier;
beforeAll(async () => {
  verifier = await createOrderVerifier(DOMAIN);
});

test('the members have their published order and types', () => {
  expect(EIP712_ORDER_TYPES.Order.map(({ type, name }) => `${type} ${name}`).join(',')).toBe(
    'uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,' +
      'uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType',
  );
});

test.each(BACKENDS)('a published order has its published hash and signature (%s)', async (backend) => {
  // Polymarket/clob-order-utils, tests/src/exchange.order.builder.test.ts, chain 80002.
  const published = await createOrderVerifier({
    name: 'Polymarket CTF Exchange',
    chainId: 80002,
    verifyingContract: '0xdFE02Eb6733538f8Ea35D585af8DE5958AD99E40',
    backend,
  });
  const order = orderOf('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', {
    tokenId: 1234n,
    makerAmount: 100000000n,
    takerAmount: 50000000n,
    feeRateBps: 100n,
    signature:
      '0x302cd9abd0b5fcaa202a344437ec0b6660da984e24ae9ad915a592a90facf5a51bb8a873cd8d270f070217fea1986531d5eec66f1162a81f66e026db653bf7ce1c',
  });
  const hash = published.hash(order);
  expect(hash).toBe('0x02ca1d1aa31103804173ad1acd70066cb6c1258a4be6dada055111f9a7ea4e55');
  expect(`0x${published.verify(order, hash).toString('hex')}`).toBe(order.signature);
});

test('the hashes of 400 random orders equal those of ethers, computed one after another in the same buffer', () => {
  for (let i = 0; i < 400; i++) {
    const order = randomOrder(alice.address);
    expect(verifier.hash(order)).toBe(TypedDataEncoder.hash(DOMAIN, EIP712_ORDER_TYPES, order));
  }
});

test.each([
  ['zero', 0n],
  ['the last of one word half', 2n ** 64n - 1n],
  ['the first past it', 2n ** 64n],
  ['the greatest', 2n ** 256n - 1n],
])('equals ethers at the edge: %s', (_, value) => {
  const order = orderOf(alice.address, { salt: value, nonce: value, feeRateBps: value });
  expect(verifier.hash(order)).toBe(TypedDataEncoder.hash(DOMAIN, EIP712_ORDER_TYPES, order));
});

test('the case of an address does not change the hash', () => {
  expect(verifier.hash(orderOf(alice.address.toLowerCase()))).toBe(verifier.hash(orderOf(alice.address)));
});

test.each([
  ['a negative number', orderOf(alice.address, { salt: -1n })],
  ['2^256', orderOf(alice.address, { makerAmount: 2n ** 256n })],
  ['a short address', orderOf('0x1234')],
  ['an address with a letter too many', orderOf(`${alice.address}0`)],
  ['an address that is not hexadecimal', orderOf(alice.address.slice(0, 30).padEnd(42, 'z'))],
  ['signatureType 256', orderOf(alice.address, { signatureType: 256 })],
])('%s is a bug of the caller', (_, order) => {
  expect(() => verifier.hash(order)).toThrow(RangeError);
});
