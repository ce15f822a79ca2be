import { type ChainMatch, type Market, newTrader, ONE, type Trader, type World } from './world';

/** A buyer with 1,000 of collateral and a seller with 1,000 full sets, who have both approved the exchange contract. */
export async function traders(world: World, market: Market): Promise<[Trader, Trader]> {
  const [buyer, seller] = [newTrader(), newTrader()];
  await world.fund(buyer.address, 1_000n * ONE);
  await world.fund(seller.address, 0n, market, 1_000n * ONE);
  return [buyer, seller];
}

/** A BUY of Yes at 0.60 that meets a SELL of the same size. */
export function deal(
  world: World,
  market: Market,
  id: bigint,
  [buyer, seller]: readonly [Trader, Trader],
  shares: bigint,
  expiration = 0n,
): ChainMatch {
  const tokenId = market.tokens[0];
  const [paid, sold] = [(shares * 6n * ONE) / 10n, shares * ONE];
  const taker = world.sign(buyer, { tokenId, makerAmount: paid, takerAmount: sold });
  const maker = world.sign(seller, {
    tokenId,
    side: 1,
    makerAmount: sold,
    takerAmount: paid,
    expiration,
    feeRateBps: 200n,
  });
  return { id, taker, makers: [maker], takerFill: paid, makerFills: [sold] };
}

/** The data of an approval of collateral for the exchange contract. */
export const approval = (world: World, amount: bigint): string =>
  `0x095ea7b3${word(BigInt(world.exchange))}${word(amount)}`;

/** The data of a transfer of collateral. */
export const transfer = (to: string, amount: bigint): string =>
  `0xa9059cbb${word(BigInt(to))}${word(amount)}`;

/** The data of an approval of outcome tokens for the exchange contract, and of its end. */
export const approvalForAll = (world: World, isApproved: boolean): string =>
  `0xa22cb465${word(BigInt(world.exchange))}${word(isApproved ? 1n : 0n)}`;

/** The data of a transfer of outcome tokens. */
export const tokenTransfer = (from: string, to: string, tokenId: bigint, amount: bigint): string =>
  `0xf242432a${[BigInt(from), BigInt(to), tokenId, amount, 160n, 0n].map(word).join('')}`;

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
