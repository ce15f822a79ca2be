import { COLLATERAL, type Market, newTrader, ONE, startWorld, type World } from './world';

/** The exchange contract on a real chain: each test has traders of its own. */
let world: World;
let market: Market;

beforeAll(async () => {
  world = await startWorld();
  market = await world.openMarket('settled');
});
afterAll(() => world?.stop());

test('a match of a BUY with a SELL moves collateral and tokens from wallet to wallet', async () => {
  const [buyer, seller] = [newTrader(), newTrader()];
  const [yes] = market.tokens;
  await world.fund(buyer.address, 100n * ONE);
  await world.fund(seller.address, 0n, market, 100n * ONE);
  const taker = world.sign(buyer, { tokenId: yes, makerAmount: 62n * ONE, takerAmount: 100n * ONE });
  const maker = world.sign(seller, {
    ...{ tokenId: yes, side: 1, makerAmount: 40n * ONE, takerAmount: 24n * ONE },
  });
  const match = {
    id: 1n,
    taker,
    makers: [maker],
    takerFill: (62n * ONE * 40n) / 100n,
    makerFills: [40n * ONE],
  };

  const events = world.eventsOf(await world.settle([match]));

  expect(events.map(({ name }) => name)).toEqual([
    'OrderFilled',
    'OrderFilled',
    'OrdersMatched',
    'MatchSettled',
  ]);
  expect(await world.balance(buyer.address, COLLATERAL)).toBe(76n * ONE);
  expect(await world.balance(buyer.address, yes)).toBe(40n * ONE);
  expect(await world.balance(seller.address, COLLATERAL)).toBe(24n * ONE);
  expect(await world.balance(seller.address, yes)).toBe(60n * ONE);
  expect(await world.read('getOrderStatus', world.hashOf(taker))).toEqual([false, (62n * ONE * 60n) / 100n]);
  expect(await world.read('getOrderStatus', world.hashOf(maker))).toEqual([true, 0n]);
});
