import { AddressesByChainId, ChainId, OrderBuilder, Side } from '@predictdotfun/sdk';
import { createOrderVerifier } from '../../src/auth/order-signature';
import type { SignedOrder } from '../../src/exchange/order';
import { alice, DOMAIN } from './orders';

/** The SDK's order as the wire layer would parse it: the same member names, numbers as strings. */
function parsed(order: Awaited<ReturnType<OrderBuilder['signTypedDataOrder']>>): SignedOrder {
  const { salt, maker, signer, taker, tokenId, makerAmount, takerAmount, expiration, nonce, feeRateBps } =
    order;
  return {
    salt: BigInt(salt),
    maker,
    signer,
    taker,
    tokenId: BigInt(tokenId),
    makerAmount: BigInt(makerAmount),
    takerAmount: BigInt(takerAmount),
    expiration: BigInt(expiration),
    nonce: BigInt(nonce),
    feeRateBps: BigInt(feeRateBps),
    side: order.side,
    signatureType: order.signatureType,
    signature: order.signature,
  };
}

test.each([
  ['BUY', Side.BUY],
  ['SELL', Side.SELL],
])("a %s built and signed with predict.fun's SDK verifies", async (_, side) => {
  // Its builder accepts the address of the exchange, but has only its own domain name; the test replaces it in the typed data.
  const addresses = { ...AddressesByChainId[ChainId.BnbTestnet], CTF_EXCHANGE: DOMAIN.verifyingContract };
  const builder = await OrderBuilder.make(ChainId.BnbTestnet, alice, { addresses });
  const { makerAmount, takerAmount } = builder.getLimitOrderAmounts({
    side,
    pricePerShareWei: 620_000_000_000_000_000n,
    quantityWei: 100_000_000_000_000_000_000n,
  });
  const built = builder.buildOrder('LIMIT', {
    side,
    tokenId: '123456789',
    makerAmount,
    takerAmount,
    feeRateBps: 0n,
  });
  const typedData = builder.buildTypedData(built, { isNegRisk: false, isYieldBearing: false });
  typedData.domain.name = DOMAIN.name;
  const order = parsed(await builder.signTypedDataOrder(typedData));

  const verifier = await createOrderVerifier(DOMAIN);
  const hash = verifier.hash(order);
  expect(hash).toBe(builder.buildTypedDataHash(typedData));
  expect(`0x${verifier.verify(order, hash).toString('hex')}`).toBe(order.signature);
  expect(order.signer).toBe(alice.address);
  const [collateral, tokens] = side === Side.BUY ? [makerAmount, takerAmount] : [takerAmount, makerAmount];
  expect([collateral, tokens]).toEqual([62n * 10n ** 18n, 100n * 10n ** 18n]);
});
