import { AddressesByChainId, ChainId, OrderBuilder, Side } from '@predictdotfun/sdk';
import { Wallet } from 'ethers';
import { ADMIN_TOKEN } from '../../support/settings';
import { type Domain, domainOf, type Market, openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Orders of a foreign SDK, sent as its builder signed them: only its domain's name and address are ours. */
let exchange: WebReplicas;
let market: Market;
let domain: Domain;
beforeAll(async () => {
  exchange = await startWebReplicas();
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange.stop());

const SHARE = 10n ** 18n;

async function order(wallet: Wallet, outcome: 0 | 1, priceWei: bigint) {
  const addresses = { ...AddressesByChainId[ChainId.BnbTestnet], CTF_EXCHANGE: domain.verifyingContract };
  const builder = await OrderBuilder.make(ChainId.BnbTestnet, wallet, { addresses });
  const amounts = builder.getLimitOrderAmounts({
    side: Side.BUY,
    pricePerShareWei: priceWei,
    quantityWei: 100n * SHARE,
  });
  const { makerAmount, takerAmount } = amounts;
  const tokenId = market.outcomes[outcome]?.tokenId ?? '';
  const built = builder.buildOrder('LIMIT', {
    side: Side.BUY,
    tokenId,
    makerAmount,
    takerAmount,
    feeRateBps: 0n,
  });
  const typedData = builder.buildTypedData(built, { isNegRisk: false, isYieldBearing: false });
  typedData.domain.name = domain.name;
  const signed = await builder.signTypedDataOrder(typedData);
  const { hash: _, ...members } = { hash: '', ...signed };
  return { members, orderHash: builder.buildTypedDataHash(typedData) };
}

test('orders built by predict.fun’s SDK rest and match', async () => {
  const maker = await order(new Wallet(`0x${'11'.repeat(32)}`), 1, (45n * SHARE) / 100n);
  const taker = await order(new Wallet(`0x${'22'.repeat(32)}`), 0, (60n * SHARE) / 100n);
  const path = `/markets/${market.id}/orders`;
  const rested = await exchange.client.post(path, { body: { order: maker.members } });
  expect([rested.status, rested.body]).toMatchObject([
    200,
    { orderHash: maker.orderHash, status: 'OPEN', price: '0.45' },
  ]);
  const matched = await exchange.client.post(path, { body: { order: taker.members } });
  expect([matched.status, matched.body]).toMatchObject([
    200,
    {
      orderHash: taker.orderHash,
      status: 'FILLED',
      averagePrice: '0.55',
      fills: [{ matchType: 'MINT', size: '100' }],
    },
  ]);
});
