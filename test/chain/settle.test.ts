import type { SignedOrder } from '../../src/exchange/order';
import { balancesOf } from './predicted';
import { CODE, fundedTrader, matchOf, newId, outcomesOf, refusal, setCode } from './stories';
import {
  type ChainMatch,
  COLLATERAL,
  collateralAbi,
  ctfAbi,
  exchangeAbi,
  type Market,
  newTrader,
  ONE,
  startWorld,
  type Trader,
  type World,
} from './world';

/** `settle`: each match fails alone, names the guilty wallet and runs once. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;

beforeAll(async () => {
  world = await startWorld();
  market = await world.openMarket('settled');
});
beforeEach(async () => {
  [taker, maker] = [await fundedTrader(world, market), await fundedTrader(world, market)];
});
afterAll(() => world?.stop());

const outcomes = async (matches: readonly ChainMatch[], gas?: bigint): Promise<string[]> =>
  outcomesOf(world, await world.settle(matches, gas));
const balances = (): Promise<Map<string, bigint>> =>
  balancesOf(world, [taker.address, maker.address], [COLLATERAL, ...market.tokens]);
const onCollateral = (from: Trader, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from.address, world.collateral, collateralAbi.encodeFunctionData(method, values));
const onTokens = (from: Trader, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from.address, world.ctf, ctfAbi.encodeFunctionData(method, values));

test('a batch of 20 with a revoked approval and a wallet that traps tokens settles 19 and blames 1', async () => {
  const pairs: [Trader, Trader][] = [];
  for (let n = 0; n < 20; n++)
    pairs.push([await fundedTrader(world, market), await fundedTrader(world, market)]);
  const [revoked, trapped] = [pairs[7] as [Trader, Trader], pairs[12] as [Trader, Trader]];
  await onTokens(revoked[1], 'setApprovalForAll', world.exchange, false);
  await setCode(world, trapped[0].address, CODE.reverts);
  const matches = pairs.map(([buyer, seller], at) =>
    matchOf(world, market, buyer, seller, { isMint: at % 3 === 2 }),
  );

  const receipt = await world.settle(matches);

  const expected = matches.map((_, at) => (at === 7 ? `NotApproved of ${revoked[1].address}` : 'settled'));
  expect(outcomesOf(world, receipt)).toEqual(expected);
  const held = world.eventsOf(receipt).filter(({ name }) => name === 'Held');
  expect(held.map(({ args }) => [args.wallet, args.amount])).toEqual([[trapped[0].address, 10n * ONE]]);

  // Sent again, the settled ones are done and the failed one fails again.
  expect(await outcomes(matches)).toEqual(
    expected.map((outcome) => (outcome === 'settled' ? 'done' : outcome)),
  );
  await onTokens(revoked[1], 'setApprovalForAll', world.exchange, true);
  expect(await outcomes(matches)).toEqual(matches.map((_, at) => (at === 7 ? 'settled' : 'done')));
});

test('a match that was settled is never settled again, whatever it contains then', async () => {
  const match = matchOf(world, market, taker, maker);
  expect(await outcomes([match, match])).toEqual(['settled', 'done']);
  const other = { ...matchOf(world, market, taker, maker), id: match.id };
  const before = await balances();
  expect(await outcomes([other])).toEqual(['done']);
  expect(await balances()).toEqual(before);
  expect(await world.read('isSettled', match.id)).toBe(true);
  expect(await world.read('isSettled', match.id + 1n)).toBe(false);
});

test('ids that differ in one bit of market, part or sequence are different matches', async () => {
  const base = (77n << 56n) | (3n << 48n) | 255n;
  const ids = [base, base + 1n, base ^ (1n << 48n), base ^ (1n << 56n), base ^ (1n << 119n)];
  const matches = [];
  for (const id of ids) {
    const small = { makerAmount: 6n * 10n ** 16n, takerAmount: ONE / 10n };
    const sold = { makerAmount: ONE / 10n, takerAmount: 6n * 10n ** 16n };
    matches.push({ ...matchOf(world, market, taker, maker, { taker: small, maker: sold }), id });
  }
  expect(await outcomes(matches)).toEqual(ids.map(() => 'settled'));
});

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

test('a batch with too little gas settles what it can, reports the rest and blames no wallet', async () => {
  const pairs: ChainMatch[] = [];
  for (let n = 0; n < 6; n++) {
    pairs.push(matchOf(world, market, await fundedTrader(world, market), await fundedTrader(world, market)));
  }
  const found = await outcomes(pairs, 900_000n);
  expect(found).toHaveLength(6);
  expect(found[0]).toBe('settled');
  expect(found.at(-1)).toBe('NotEnoughGas');
  expect(found.filter((outcome) => outcome.includes(' of '))).toEqual([]);
  expect((await outcomes(pairs)).filter((outcome) => !['settled', 'done'].includes(outcome))).toEqual([]);
});

test('matches in another order of encoding are settled all the same', async () => {
  const matches = [matchOf(world, market, taker, maker), matchOf(world, market, taker, maker)];
  const usual = exchangeAbi.encodeFunctionData('settle', [matches]).slice(10);
  const words = usual.match(/.{64}/g) ?? [];
  // Words 0 and 1 are the offset and the length of the list; the offsets of its two members follow and are swapped.
  const swapped = [...words.slice(0, 2), words[3], words[2], ...words.slice(4)].join('');
  const selector = exchangeAbi.getFunction('settle')?.selector ?? '';
  const receipt = await world.chain.send(world.operator.address, world.exchange, selector + swapped);
  expect(outcomesOf(world, receipt)).toEqual(['settled', 'settled']);
  expect(await outcomes(matches)).toEqual(['done', 'done']);
});

test('one match may move an order that another match of the batch moved before', async () => {
  const resting = matchOf(world, market, taker, maker, {
    maker: { makerAmount: 20n * ONE, takerAmount: 12n * ONE },
  });
  const halves = [taker, await fundedTrader(world, market)].map((buyer) => ({
    ...matchOf(world, market, buyer, maker),
    makers: resting.makers,
  }));
  expect(await outcomes(halves)).toEqual(['settled', 'settled']);
  expect(await world.read('getOrderStatus', world.hashOf(resting.makerOrder))).toEqual([true, 0n]);
});
