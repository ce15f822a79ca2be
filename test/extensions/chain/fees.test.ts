import { fundedTrader, matchOf, newId, settledBy, tellStories } from './stories';
import { type ChainMatch, COLLATERAL, type Market, ONE, type Trader, type World } from './world';

/** The fee of a fill is that of what was really exchanged, whatever the taker's limit is and whatever the operator says. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;
const BPS = 150n;

tellStories((story) => {
  ({ world, market, taker, maker } = story);
});

const outcomes = (match: ChainMatch) => settledBy(world, [match]);
const cents = (n: bigint): bigint => (n * ONE) / 100n;

/** A limit order for a number of shares at a price in cents. */
function limit(trader: Trader, outcome: 0 | 1, side: 0 | 1, shares: bigint, price: bigint, feeRateBps = BPS) {
  const [cash, tokens] = [shares * cents(price), shares * ONE];
  const [makerAmount, takerAmount] = side === 0 ? [cash, tokens] : [tokens, cash];
  return world.sign(trader, {
    tokenId: market.tokens[outcome],
    side,
    makerAmount,
    takerAmount,
    feeRateBps,
  });
}

const whole = (order: ChainMatch['taker'], ...makers: ChainMatch['makers'][number][]): ChainMatch => ({
  id: newId(),
  taker: order,
  makers,
  takerFill: order.makerAmount,
  makerFills: makers.map(({ makerAmount }) => makerAmount),
});

/** What the fee receiver got of an asset by a settled match. */
async function feeOf(match: ChainMatch, asset: bigint): Promise<bigint> {
  const before = await world.balance(world.fees.address, asset);
  expect(await outcomes(match)).toEqual(['settled']);
  return (await world.balance(world.fees.address, asset)) - before;
}

// 150 hundredths of a percent of the 3.80 that are the smaller part of 10 shares at 0.62, in shares at 0.62.
const FEE_AT_62 = (150n * 380n * 10n * ONE) / (10_000n * 620n);

test.each([63n, 95n, 99n])(
  'a BUY limited at %d cents pays for the 62 cents at which it is filled',
  async (price) => {
    const asks = [limit(maker, 0, 1, 10n, 62n, 0n)];
    const match = whole(limit(taker, 0, 0, 10n, price), ...asks);
    expect(await feeOf(match, market.tokens[0])).toBe(FEE_AT_62);
    // By a MINT it pays the same.
    const bids = [limit(maker, 1, 0, 10n, 38n, 0n)];
    const minted = whole(limit(taker, 0, 0, 10n, price), ...bids);
    expect(await feeOf(minted, market.tokens[0])).toBe(FEE_AT_62);
  },
);

test.each([61n, 5n, 1n])(
  'a SELL limited at %d cents pays for the 62 cents at which it is filled',
  async (price) => {
    const fee = (150n * cents(380n)) / 10_000n;
    const bids = [limit(maker, 0, 0, 10n, 62n, 0n)];
    expect(await feeOf(whole(limit(taker, 0, 1, 10n, price), ...bids), COLLATERAL)).toBe(fee);
    const asks = [limit(maker, 1, 1, 10n, 38n, 0n)];
    expect(await feeOf(whole(limit(taker, 0, 1, 10n, price), ...asks), COLLATERAL)).toBe(fee);
  },
);

test('the fees of several fills are each rounded down by themselves', async () => {
  const seller = await fundedTrader(world, market);
  // A third of a wei is lost twice.
  const third = { side: 1, tokenId: market.tokens[0] } as const;
  const asks = [maker, seller].map((one) => world.sign(one, { ...third, makerAmount: 4n, takerAmount: 3n }));
  const buy = world.sign(taker, {
    tokenId: market.tokens[0],
    makerAmount: 8n,
    takerAmount: 8n,
    feeRateBps: 1_000n,
  });
  expect(await feeOf(whole(buy, ...asks), market.tokens[0])).toBe(0n);
  const dear = asks.map((one, at) =>
    world.sign([maker, seller][at] as Trader, {
      ...one,
      salt: one.salt + 10n ** 9n,
      makerAmount: 40n,
      takerAmount: 30n,
    }),
  );
  const large = world.sign(taker, {
    tokenId: market.tokens[0],
    makerAmount: 80n,
    takerAmount: 80n,
    feeRateBps: 1_000n,
  });
  // 1,000 x 10 x 40 / (10,000 x 30) = 1.33 for each.
  expect(await feeOf(whole(large, ...dear), market.tokens[0])).toBe(2n);
});

test('an operator cannot make a SELL pay for more than it sells', async () => {
  const bid = limit(maker, 0, 0, 10n, 80n, 0n);
  const ask = limit(taker, 0, 1, 40n, 20n);
  const match = { ...whole(ask, bid), takerFill: 40n * ONE };
  expect(await outcomes(match)).toEqual(['FillNotSold']);
  expect(await outcomes({ ...match, takerFill: 10n * ONE + 1n })).toEqual(['FillNotSold']);
  expect(await feeOf({ ...match, takerFill: 10n * ONE }, COLLATERAL)).toBe((150n * 2n * ONE) / 10_000n);
  expect(await world.read('getOrderStatus', world.hashOf(ask))).toEqual([false, 30n * ONE]);
});

test('an operator cannot raise or lower the fee of a BUY with the amount that it takes from the order', async () => {
  const asks = [limit(maker, 0, 1, 10n, 62n, 0n), limit(maker, 0, 1, 10n, 62n, 0n)];
  const fees: bigint[] = [];
  for (const [at, ask] of asks.entries()) {
    const match = whole(limit(taker, 0, 0, 10n, 95n), ask);
    fees.push(await feeOf({ ...match, takerFill: at === 0 ? cents(620n) : cents(950n) }, market.tokens[0]));
  }
  expect(fees).toEqual([FEE_AT_62, FEE_AT_62]);
});

test('a price of one or more has no fee', async () => {
  const match = matchOf(world, market, taker, maker, {
    taker: { makerAmount: 10n * ONE, takerAmount: 10n * ONE, feeRateBps: BPS },
    maker: { takerAmount: 10n * ONE, feeRateBps: BPS },
  });
  expect(await feeOf({ ...match, takerFill: 10n * ONE }, COLLATERAL)).toBe(0n);
});
