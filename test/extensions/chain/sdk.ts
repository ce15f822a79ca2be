import { AddressesByChainId, ChainId, OrderBuilder, type Order as SdkOrder } from '@predictdotfun/sdk';
import type { Wallet } from 'ethers';
import type { SignedOrder } from '../../../src/exchange/order';
import { DOMAIN_NAME } from './world';

const DAY_MS = 86_400_000;

/** An order as the SDK of predict.fun builds and signs it, with its hash of it. */
export async function signWithSdk(wallet: Wallet, exchange: string, terms: Partial<SignedOrder>) {
  const addresses = { ...AddressesByChainId[ChainId.BnbTestnet], CTF_EXCHANGE: exchange };
  const builder = await OrderBuilder.make(ChainId.BnbTestnet, wallet, { addresses });
  const built: SdkOrder = builder.buildOrder('LIMIT', {
    side: terms.side ?? 0,
    tokenId: String(terms.tokenId),
    makerAmount: terms.makerAmount ?? 0n,
    takerAmount: terms.takerAmount ?? 0n,
    feeRateBps: terms.feeRateBps ?? 0n,
    expiresAt: new Date(Date.now() + DAY_MS),
  });
  const typedData = builder.buildTypedData(built, { isNegRisk: false, isYieldBearing: false });
  // The SDK knows only its own name of the domain.
  typedData.domain.name = DOMAIN_NAME;
  const hash = builder.buildTypedDataHash(typedData);
  return { order: await builder.signTypedDataOrder(typedData), hash };
}

const NUMBERS = [
  ...(['salt', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'nonce', 'feeRateBps'] as const),
];

/** The order as the exchange knows it. */
export function parse(order: object): SignedOrder {
  const parsed = { ...order } as SignedOrder;
  for (const name of NUMBERS) Object.assign(parsed, { [name]: BigInt(parsed[name]) });
  return parsed;
}
