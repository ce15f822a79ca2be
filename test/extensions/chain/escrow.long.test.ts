import { balancesOf } from './predicted';
import {
  CODE,
  calledBack,
  callsBack,
  fundedTrader,
  matchOf,
  outcomesOf,
  refusal,
  setCode,
  settledBy,
  tellStories,
} from './stories';
import {
  type ChainMatch,
  COLLATERAL,
  collateralAbi,
  ctfAbi,
  exchangeAbi,
  type Market,
  newTrader,
  ONE,
  type Trader,
  type World,
} from './world';

/** Wallets whose code refuses, burns gas, calls back or changes its mind: they harm only themselves. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;

tellStories((story) => {
  ({ world, market, taker, maker } = story);
});

const outcomes = (matches: readonly ChainMatch[]) => settledBy(world, matches);
const owed = (wallet: string, asset: bigint) => world.read('owed', wallet, asset);
const claim = (from: string, wallet: string, asset: bigint, to: string) =>
  world.call(from, 'claim', wallet, asset, to);
const yes = (): bigint => market.tokens[0];

describe('tokens that a wallet does not take are kept for it', () => {
  test.each([
    ['reverts', CODE.reverts],
    ['burns all gas', CODE.burnsAllGas],
    ['reverts with 60 kB', CODE.revertsWithMuch],
    ['answers nothing', CODE.answersNothing],
  ])('its code %s', async (_, code) => {
    await setCode(world, taker.address, code);
    const match = matchOf(world, market, taker, maker);
    expect(await outcomes([match])).toEqual(['settled']);
    expect(await world.balance(taker.address, COLLATERAL)).toBe(94n * ONE);
    expect(await world.balance(maker.address, COLLATERAL)).toBe(106n * ONE);
    expect(await world.balance(taker.address, yes())).toBe(100n * ONE);
    expect(await owed(taker.address, yes())).toBe(10n * ONE);
    expect(await world.balance(world.exchange, yes())).toBeGreaterThanOrEqual(10n * ONE);
  });

  test('also those that a MINT made, and those of every maker', async () => {
    await setCode(world, taker.address, CODE.reverts);
    await setCode(world, maker.address, CODE.burnsAllGas);
    expect(await outcomes([matchOf(world, market, taker, maker, { isMint: true })])).toEqual(['settled']);
    expect(await owed(taker.address, yes())).toBe(10n * ONE);
    expect(await owed(maker.address, market.tokens[1])).toBe(10n * ONE);
  });

  test('a wallet that burns gas burns it once in a transaction', async () => {
    const matches = async (code: string) => {
      const own = await fundedTrader(world, market);
      const makers = [];
      for (let n = 0; n < 6; n++) makers.push(await fundedTrader(world, market));
      await setCode(world, own.address, code);
      const small = { makerAmount: 6n * ONE, takerAmount: 10n * ONE };
      return makers.map((one) => matchOf(world, market, own, one, { taker: small }));
    };
    const [burning, refusing] = [await matches(CODE.burnsAllGas), await matches(CODE.reverts)];
    const [much, little] = [await world.settle(burning), await world.settle(refusing)];
    expect([...outcomesOf(world, much), ...outcomesOf(world, little)]).toEqual(Array(12).fill('settled'));
    expect(Number(BigInt(much.gasUsed) - BigInt(little.gasUsed))).toBeLessThan(120_000);
  });

  test('claim pays them to the address that the wallet names, once', async () => {
    await setCode(world, taker.address, CODE.reverts);
    await outcomes([matchOf(world, market, taker, maker)]);
    const to = newTrader().address;
    const receipt = await claim(taker.address, taker.address, yes(), to);
    expect(world.eventsOf(receipt).map(({ name, args }) => [name, args.amount])).toEqual([
      ['Claimed', 10n * ONE],
    ]);
    expect(await world.balance(to, yes())).toBe(10n * ONE);
    expect(await refusal(() => claim(taker.address, taker.address, yes(), to))).toBe('NothingOwed');
  });

  test('others can have them paid to the wallet itself only, when it takes them again', async () => {
    await setCode(world, taker.address, CODE.reverts);
    await outcomes([matchOf(world, market, taker, maker)]);
    const other = maker.address;
    expect(await refusal(() => claim(other, taker.address, yes(), other))).toBe('InvalidAddress');
    expect(await refusal(() => claim(taker.address, taker.address, yes(), world.exchange))).toBe(
      'InvalidAddress',
    );
    expect(await refusal(() => claim(other, taker.address, yes(), taker.address))).toBe('DeliveryFailed');
    expect(await owed(taker.address, yes())).toBe(10n * ONE);
    await setCode(world, taker.address, CODE.acceptsTokens);
    await claim(other, taker.address, yes(), taker.address);
    expect(await world.balance(taker.address, yes())).toBe(110n * ONE);
  });

  test('a paused exchange pays claims', async () => {
    await setCode(world, taker.address, CODE.reverts);
    await outcomes([matchOf(world, market, taker, maker)]);
    await world.call(world.admin.address, 'pauseTrading');
    await claim(taker.address, taker.address, yes(), maker.address);
    await world.call(world.admin.address, 'unpauseTrading');
  });

  test('a fee receiver that takes no tokens stops no match', async () => {
    await setCode(world, world.fees.address, CODE.reverts);
    const fee = { feeRateBps: 200n };
    expect(await outcomes([matchOf(world, market, taker, maker, { taker: fee, maker: fee })])).toEqual([
      'settled',
    ]);
    expect(await owed(world.fees.address, yes())).toBeGreaterThan(0n);
    await setCode(world, world.fees.address, '0x');
  });
});

describe('a wallet that is called during a match', () => {
  async function callBack(target: string, data: string): Promise<ChainMatch> {
    await setCode(world, taker.address, callsBack(target, data));
    return matchOf(world, market, taker, maker);
  }
  const intoExchange = (method: string, ...values: readonly unknown[]) =>
    callBack(world.exchange, exchangeAbi.encodeFunctionData(method, values));

  test.each(['settle', 'matchOrders', 'settleOne'])(
    'cannot call %s, not even as an operator',
    async (method) => {
      await world.call(world.admin.address, 'addOperator', taker.address);
      const inner = matchOf(
        world,
        market,
        await fundedTrader(world, market),
        await fundedTrader(world, market),
      );
      const values = {
        settle: [[]],
        matchOrders: [inner.taker, inner.makers, inner.takerFill, inner.makerFills],
        settleOne: [inner],
      }[method] as unknown[];
      expect(await outcomes([await intoExchange(method, ...values)])).toEqual(['settled']);
      expect(await calledBack(world, taker.address)).toBe(false);
      expect(await world.balance(taker.address, yes())).toBe(110n * ONE);
    },
  );

  test('cannot claim in the middle of a match', async () => {
    await setCode(world, taker.address, CODE.reverts);
    await outcomes([matchOf(world, market, taker, maker)]);
    const match = await intoExchange('claim', taker.address, yes(), maker.address);
    expect(await outcomes([match])).toEqual(['settled']);
    expect(await calledBack(world, taker.address)).toBe(false);
    expect(await owed(taker.address, yes())).toBe(10n * ONE);
  });

  test('cannot undo its order by cancelling it', async () => {
    const order = matchOf(world, market, taker, maker);
    await setCode(
      world,
      taker.address,
      callsBack(world.exchange, exchangeAbi.encodeFunctionData('cancelOrder', [order.taker])),
    );
    expect(await outcomes([order])).toEqual(['settled']);
    expect(await world.read('getOrderStatus', world.hashOf(order.taker))).toEqual([true, 0n]);
  });

  test('is to blame when it takes its own collateral away before the next maker is paid', async () => {
    const second = await fundedTrader(world, market);
    const drain = collateralAbi.encodeFunctionData('transfer', [newTrader().address, 90n * ONE]);
    await setCode(world, taker.address, callsBack(world.collateral, drain));
    const double = { makerAmount: 12n * ONE, takerAmount: 20n * ONE };
    const one = matchOf(world, market, taker, maker, { taker: double });
    const both = {
      ...one,
      makers: [...one.makers, matchOf(world, market, taker, second).makerOrder],
      makerFills: [10n * ONE, 10n * ONE],
    };
    const others = matchOf(world, market, second, await fundedTrader(world, market));
    const before = await balancesOf(world, [taker.address, maker.address], [COLLATERAL, ...market.tokens]);
    expect(await outcomes([both, others])).toEqual([`NotEnoughCollateral of ${taker.address}`, 'settled']);
    expect(await balancesOf(world, [taker.address, maker.address], [COLLATERAL, ...market.tokens])).toEqual(
      before,
    );
  });
});

test('tokens that a wallet sends to the contract are refused', async () => {
  const send = ctfAbi.encodeFunctionData('safeTransferFrom', [
    taker.address,
    world.exchange,
    yes(),
    ONE,
    '0x',
  ]);
  await expect(world.chain.send(taker.address, world.ctf, send)).rejects.toThrow();
  const forged = world.call(
    taker.address,
    'onERC1155Received',
    world.exchange,
    taker.address,
    yes(),
    ONE,
    '0x',
  );
  expect(await refusal(() => forged)).toBe('NotSelf');
});

describe('an order of a contract wallet', () => {
  const contract = { signatureType: 3, signature: `0x${'12'.repeat(97)}` };
  const ofContract = async (code: string, more: object = {}) => {
    await setCode(world, maker.address, code);
    const match = matchOf(world, market, taker, maker);
    const order = { ...match.makerOrder, ...contract, ...more };
    return { ...match, makers: [order], makerFills: [5n * ONE], takerFill: 3n * ONE };
  };

  test('is asked for its signature at every fill', async () => {
    const match = await ofContract(CODE.acceptsSignatures);
    const again = { ...match, id: match.id + (1n << 100n) };
    const blamed = `InvalidSignature of ${maker.address}`;
    expect(await outcomes([match])).toEqual(['settled']);
    await setCode(world, maker.address, CODE.reverts);
    expect(await outcomes([again])).toEqual([blamed]);
    await setCode(world, maker.address, CODE.burnsAllGas);
    expect(await outcomes([again])).toEqual([blamed]);
    await setCode(world, maker.address, CODE.answersNothing);
    expect(await outcomes([again])).toEqual([blamed]);
    await setCode(world, maker.address, '0x');
    expect(await outcomes([again])).toEqual([blamed]);
    await setCode(world, maker.address, CODE.acceptsSignatures);
    expect(await outcomes([again])).toEqual(['settled']);
  });

  test('has a signature of at most 1,024 bytes', async () => {
    const [long, longest] = [1_025, 1_024].map((bytes) => ({ signature: `0x${'ab'.repeat(bytes)}` }));
    expect(await outcomes([await ofContract(CODE.acceptsSignatures, long)])).toEqual(['InvalidSignature']);
    expect(await outcomes([await ofContract(CODE.acceptsSignatures, longest)])).toEqual(['settled']);
  });

  test('has type 3: code does not make an order of type 0 valid, and other types do not exist', async () => {
    for (const signatureType of [0, 1, 2, 4]) {
      const match = await ofContract(CODE.acceptsSignatures, { signatureType });
      expect([signatureType, await outcomes([match])]).toEqual([signatureType, ['InvalidSignature']]);
    }
  });

  test('is signed by its maker: another signer is refused', async () => {
    const match = await ofContract(CODE.acceptsSignatures, { signer: taker.address });
    expect(await outcomes([match])).toEqual(['InvalidSignature']);
  });
});

test('an order of type 0 stays valid when its account gets code', async () => {
  const match = matchOf(world, market, taker, maker);
  await setCode(world, maker.address, CODE.reverts);
  expect(await outcomes([match])).toEqual(['settled']);
});
