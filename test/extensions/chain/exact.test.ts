import { Wallet } from 'ethers';
import { balancesOf, type Limit, type Planned, plan, type Sign } from './predicted';
import { parse, signWithSdk } from './sdk';
import { COLLATERAL, type Market, newTrader, ONE, startWorld, type World } from './world';

/** The balances after a match equal those that its settlement record predicts, to the wei: collateral and both tokens. */
let world: World;
let market: Market;
let nextId = 1n;
const traders = Array.from({ length: 4 }, newTrader);
const [first, second, third, fourth] = traders as [
  Limit['trader'],
  Limit['trader'],
  Limit['trader'],
  Limit['trader'],
];

beforeAll(async () => {
  world = await startWorld();
  market = await world.openMarket('exact');
  for (const { address } of traders)
    await world.fund(address, (1_000_000n * ONE) / 2n, market, (1_000_000n * ONE) / 2n);
});
afterAll(() => world?.stop());

async function expectExact(planned: Planned, sign?: Sign): Promise<void> {
  const { match, changes, record } = await plan(world, market, planned, nextId++, sign);
  const wallets = [...traders.map(({ address }) => address), world.fees.address, world.exchange];
  const assets = [COLLATERAL, ...market.tokens];
  const before = await balancesOf(world, wallets, assets);
  const events = world.eventsOf(await world.settle([match]));
  const after = await balancesOf(world, wallets, assets);
  expect(events.filter(({ name }) => name === 'MatchFailed')).toEqual([]);
  for (const [key, had] of before)
    expect([key, (after.get(key) ?? 0n) - had]).toEqual([key, changes.get(key) ?? 0n]);
  // The events name the amounts that moved.
  const filled = events.filter(({ name }) => name === 'OrderFilled').map(({ args }) => args);
  expect(filled.map(({ fee }) => fee)).toEqual([...record.makerFeeAmounts, record.takerFeeAmount]);
  expect(filled.at(-1)?.makerAmountFilled).toBe(record.takerFillAmount - record.refundAmount);
}

const limit = (trader: Limit['trader'], side: 0 | 1, outcome: 0 | 1, pips: number, lots: number): Limit => ({
  trader,
  side,
  outcome,
  pips,
  lots,
});
const RATES = [0, 1, 200, 1_000];

/** Two makers, of which the second is filled in part, at prices better than the taker's limit. */
const KINDS: Readonly<Record<string, (feeRateBps: number) => Planned>> = {
  'COMPLEMENTARY, the taker buys': (feeRateBps) => ({
    taker: limit(first, 0, 0, 6_200, 3_000),
    fills: [
      // Less than the taker's fee, which the second maker's tokens must pay then.
      { maker: limit(third, 1, 0, 6_001, 2_000), lots: 7 },
      { maker: limit(second, 1, 0, 5_777, 1_301), lots: 1_301 },
    ],
    feeRateBps,
  }),
  'COMPLEMENTARY, the taker sells': (feeRateBps) => ({
    taker: limit(first, 1, 1, 2_000, 3_000),
    fills: [
      { maker: limit(second, 0, 1, 2_703, 1_301), lots: 1_301 },
      { maker: limit(third, 0, 1, 2_001, 2_000), lots: 7 },
    ],
    feeRateBps,
  }),
  MINT: (feeRateBps) => ({
    taker: limit(first, 0, 1, 4_100, 3_000),
    fills: [
      { maker: limit(second, 0, 0, 6_333, 1_301), lots: 1_301 },
      { maker: limit(third, 0, 0, 5_900, 2_000), lots: 7 },
    ],
    feeRateBps,
  }),
  MERGE: (feeRateBps) => ({
    taker: limit(first, 1, 0, 3_000, 3_000),
    fills: [
      { maker: limit(second, 1, 1, 6_333, 1_301), lots: 1_301 },
      { maker: limit(third, 1, 1, 7_000, 2_000), lots: 7 },
    ],
    feeRateBps,
  }),
  'MINT and COMPLEMENTARY in one match': (feeRateBps) => ({
    taker: limit(first, 0, 0, 9_999, 5_000),
    fills: [
      { maker: limit(second, 0, 1, 9_999, 3), lots: 3 },
      { maker: limit(third, 1, 0, 1, 900), lots: 900 },
      { maker: limit(fourth, 0, 1, 5_000, 900), lots: 450 },
      { maker: limit(second, 1, 0, 9_999, 11), lots: 11 },
    ],
    feeRateBps,
  }),
  'MERGE and COMPLEMENTARY in one match, with the same wallet on both sides': (feeRateBps) => ({
    taker: limit(first, 1, 0, 1, 5_000),
    fills: [
      { maker: limit(second, 1, 1, 1, 3), lots: 3 },
      { maker: limit(first, 0, 0, 9_999, 900), lots: 900 },
      { maker: limit(fourth, 1, 1, 5_000, 900), lots: 450 },
    ],
    feeRateBps,
  }),
  'a MARKET BUY with a budget off every lot': (feeRateBps) => ({
    taker: limit(first, 0, 0, 7_000, 900),
    budgetMicro: 7_000_123,
    fills: [
      { maker: limit(second, 1, 0, 6_101, 500), lots: 500 },
      { maker: limit(third, 0, 1, 3_899, 777), lots: 401 },
    ],
    feeRateBps,
  }),
};

describe.each(RATES)('at a fee of %d hundredths of a percent', (feeRateBps) => {
  test.each(Object.entries(KINDS))('every balance changes as predicted: %s', async (_, planned) => {
    await expectExact(planned(feeRateBps));
  });
});

test('orders signed by the SDK of predict.fun settle unchanged', async () => {
  const hashes: string[] = [];
  const sign: Sign = async (trader, terms) => {
    const { order, hash } = await signWithSdk(new Wallet(trader.key), world.exchange, terms);
    hashes.push(hash);
    const parsed = parse(order);
    expect(await world.read('hashOrder', parsed)).toBe(hashes.at(-1));
    return parsed;
  };
  for (const planned of Object.values(KINDS).slice(0, 4)) await expectExact(planned(200), sign);
  expect(hashes).toHaveLength(12);
});

test('the contract hashes orders as the exchange does, and names the same domain', async () => {
  const order = world.sign(first, { tokenId: 2n ** 256n - 1n, makerAmount: 1n, takerAmount: 3n, nonce: 5n });
  expect(await world.read('hashOrder', order)).toBe(world.hashOf(order));
  const [, name, version, chainId, contract] = (await world.read('eip712Domain')) as unknown[];
  expect([name, version, chainId, contract]).toEqual([
    ...[world.domain.name, world.domain.version, BigInt(world.domain.chainId), world.exchange],
  ]);
});
