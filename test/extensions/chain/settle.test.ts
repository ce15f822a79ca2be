import type { SignedOrder } from '../../../src/exchange/order';
import { balancesOf } from './predicted';
import { fundedTrader, matchOf, newId, refusal, settledBy, tellStories } from './stories';
import {
  type ChainMatch,
  COLLATERAL,
  collateralAbi,
  ctfAbi,
  type Market,
  newTrader,
  ONE,
  type Trader,
  type World,
} from './world';

/** A match that fails blames the guilty wallet, or none when the operator should not have sent it. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;

tellStories((story) => {
  ({ world, market, taker, maker } = story);
});

const outcomes = (matches: readonly ChainMatch[], gas?: bigint) => settledBy(world, matches, gas);
const balances = () => balancesOf(world, [taker.address, maker.address], [COLLATERAL, ...market.tokens]);
const onCollateral = (from: Trader, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from.address, world.collateral, collateralAbi.encodeFunctionData(method, values));
const onTokens = (from: Trader, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from.address, world.ctf, ctfAbi.encodeFunctionData(method, values));

describe('a wallet that cannot do its part is blamed, and nothing moves', () => {
  const empty = (one: Trader, asset: bigint) => async () => {
    const other = newTrader().address;
    const balance = await world.balance(one.address, asset);
    if (asset === COLLATERAL) await onCollateral(one, 'transfer', other, balance);
    else await onTokens(one, 'safeTransferFrom', one.address, other, asset, balance, '0x');
  };
  test.each<[string, string, () => Promise<unknown>, 'taker' | 'maker', boolean]>([
    [
      'NotEnoughCollateral',
      'a taker that moved its collateral',
      () => empty(taker, COLLATERAL)(),
      'taker',
      false,
    ],
    [
      'NotEnoughTokens',
      'a maker that moved its tokens',
      () => empty(maker, market.tokens[0])(),
      'maker',
      false,
    ],
    [
      'NotEnoughAllowance',
      'a taker with an allowance of one',
      () => onCollateral(taker, 'approve', world.exchange, 1n),
      'taker',
      false,
    ],
    [
      'NotApproved',
      'a maker without approval',
      () => onTokens(maker, 'setApprovalForAll', world.exchange, false),
      'maker',
      false,
    ],
    [
      'NotEnoughCollateral',
      'a maker of a MINT that moved its collateral',
      () => empty(maker, COLLATERAL)(),
      'maker',
      true,
    ],
    [
      'NotEnoughAllowance',
      'a taker of a MINT with too little allowance',
      () => onCollateral(taker, 'approve', world.exchange, 6n * ONE - 1n),
      'taker',
      true,
    ],
  ])('%s: %s', async (why, _, spoil, guilty, isMint) => {
    await spoil();
    const [other, innocent] = [await fundedTrader(world, market), await fundedTrader(world, market)];
    const match = matchOf(world, market, taker, maker, { isMint });
    const before = await balances();
    const wallet = guilty === 'taker' ? taker.address : maker.address;
    expect(await outcomes([match, matchOf(world, market, other, innocent)])).toEqual([
      `${why} of ${wallet}`,
      'settled',
    ]);
    expect(await balances()).toEqual(before);
    expect(await refusal(() => matchOrders(match))).toBe(`${why} of ${wallet}`);
    expect(await world.read('getOrderStatus', world.hashOf(match.taker))).toEqual([false, 0n]);
  });
});

const matchOrders = (match: ChainMatch, from = world.operator.address) =>
  world.call(from, 'matchOrders', match.taker, match.makers, match.takerFill, match.makerFills);

describe('a match that the operator should not have sent fails without blaming a wallet', () => {
  const signed = (more: Partial<SignedOrder>) => () => matchOf(world, market, taker, maker, { maker: more });
  const changed = (more: Partial<ChainMatch>) => () => ({ ...matchOf(world, market, taker, maker), ...more });
  test.each<[string, string, () => ChainMatch]>([
    ['OrderExpired', 'an order expired', signed({ expiration: 1n })],
    ['FeeTooHigh', 'an order signs a fee above a tenth', signed({ feeRateBps: 1_001n })],
    ['NotTaker', 'an order names its counterparty', signed({ taker: `0x${'12'.repeat(20)}` })],
    ['NotCrossing', 'the prices do not meet', signed({ takerAmount: 6n * ONE + 1n })],
    [
      'MismatchedTokenIds',
      'a SELL is of the other token',
      () => matchOf(world, market, taker, maker, { maker: { tokenId: market.tokens[1] } }),
    ],
    [
      'MismatchedTokenIds',
      'two BUYs are of the same token',
      () => matchOf(world, market, taker, maker, { isMint: true, maker: { tokenId: market.tokens[0] } }),
    ],
    [
      'InvalidTokenId',
      'the token is not registered',
      () => matchOf(world, market, taker, maker, { taker: { tokenId: 5n }, maker: { tokenId: 5n } }),
    ],
    ['InvalidAmount', 'an order signs an amount of zero', signed({ takerAmount: 0n })],
    ['InvalidAmount', 'an amount would overflow the arithmetic', signed({ makerAmount: 2n ** 120n })],
    ['InvalidAmount', 'a fill is zero', changed({ makerFills: [0n] })],
    [
      'MakingGtRemaining',
      'a maker would give more than it signed',
      changed({ makerFills: [10n * ONE + 5n] }),
    ],
    ['MakingGtRemaining', 'the taker would give more than it signed', changed({ takerFill: 6n * ONE + 1n })],
    ['NotCrossing', 'the taker would pay more than its fill', changed({ takerFill: 6n * ONE - 1n })],
    [
      'TooLittleTokensReceived',
      'the taker would get less than it signed',
      changed({ makerFills: [9n * ONE] }),
    ],
    ['NotWhole', 'a fill would be rounded', changed({ makerFills: [10n * ONE - 1n] })],
    ['WrongLengths', 'a fill is missing', changed({ makerFills: [] })],
    ['WrongLengths', 'there is no maker', changed({ makers: [], makerFills: [] })],
  ])('%s: %s', async (error, _, make) => {
    const match = make();
    const before = await balances();
    expect(await outcomes([match])).toEqual([error]);
    expect(await refusal(() => matchOrders(match))).toBe(error);
    expect(await balances()).toEqual(before);
  });

  test('an order that is filled cannot be filled again', async () => {
    const match = matchOf(world, market, taker, maker);
    await matchOrders(match);
    const again = { ...matchOf(world, market, taker, maker), makers: match.makers };
    expect(await outcomes([again])).toEqual(['OrderFilledOrCancelled']);
  });
});

test.each<[string, 0 | 1, 0 | 1, bigint, readonly [bigint, bigint]]>([
  ['COMPLEMENTARY, the taker buys', 0, 1, 6n, [5n, 7n]],
  ['COMPLEMENTARY, the taker sells', 1, 0, 4n, [5n, 3n]],
  ['MINT', 0, 0, 6n, [5n, 3n]],
  ['MERGE', 1, 1, 4n, [5n, 7n]],
])(
  'a better price of one maker does not pay for another that does not meet the taker: %s',
  async (_, side, other, price, prices) => {
    const [yes, no] = market.tokens;
    const amounts = (sells: 0 | 1, size: bigint, tenths: bigint) => {
      const [cash, tokens] = [(size * tenths * ONE) / 10n, size * ONE];
      return sells === 1
        ? { makerAmount: tokens, takerAmount: cash }
        : { makerAmount: cash, takerAmount: tokens };
    };
    const order = (one: Trader, tokenId: bigint, of: 0 | 1, size: bigint, tenths: bigint) =>
      world.sign(one, { tokenId, side: of, ...amounts(of, size, tenths) });
    const takerOrder = order(taker, yes, side, 20n, price);
    const makers = prices.map((tenths) => order(maker, side === other ? no : yes, other, 10n, tenths));
    const fills = makers.map(({ makerAmount }) => makerAmount);
    const match = {
      id: newId(),
      taker: takerOrder,
      makers,
      takerFill: takerOrder.makerAmount,
      makerFills: fills,
    };
    expect(await outcomes([match])).toEqual(['NotCrossing']);
  },
);

test('an order is filled part by part up to what it signed, and its signature counts at the first', async () => {
  const match = matchOf(world, market, taker, maker);
  const part = (share: bigint) => ({ takerFill: match.takerFill / share, makerFills: [(10n * ONE) / share] });
  const unsigned = { ...match, taker: { ...match.taker, signature: '0x' }, ...part(4n) };
  expect(await refusal(() => matchOrders(unsigned))).toBe('InvalidSignature');
  await matchOrders({ ...match, ...part(4n) });
  await matchOrders(unsigned);
  expect(await world.read('getOrderStatus', world.hashOf(match.taker))).toEqual([false, 3n * ONE]);
  expect(await refusal(() => matchOrders({ ...match, takerFill: 4n * ONE }))).toBe('MakingGtRemaining');
  await matchOrders({ ...match, ...part(2n) });
  expect(await world.read('getOrderStatus', world.hashOf(match.taker))).toEqual([true, 0n]);
  expect(await world.balance(taker.address, market.tokens[0])).toBe(110n * ONE);
});
