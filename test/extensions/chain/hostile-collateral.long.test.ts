import { type Interface, ZeroAddress } from 'ethers';
import { compileHostile, MODES, type Mode } from './hostile-collateral';
import { balancesOf } from './predicted';
import { matchOf, outcomesOf, refusal } from './stories';
import { COLLATERAL, type Market, newTrader, ONE, startWorld, type Trader, type World } from './world';

/** Collateral is trusted to move exact amounts. When it does not, what the contract keeps for wallets is safe all the same. */

let world: World;
let market: Market;
let abi: Interface;
let taker: Trader;
let maker: Trader;

beforeAll(async () => {
  const hostile = compileHostile();
  abi = hostile.abi;
  world = await startWorld({}, hostile.artifact);
  market = await world.openMarket('hostile');
});
beforeEach(async () => {
  await behave('usual');
  [taker, maker] = [newTrader(), newTrader()];
  for (const { address } of [taker, maker]) await world.fund(address, 100n * ONE, market, 100n * ONE);
});
afterAll(() => world?.stop());

const behave = (mode: Mode, blocked = ZeroAddress) =>
  world.chain.send(
    world.deployer,
    world.collateral,
    abi.encodeFunctionData('behave', [MODES[mode], blocked]),
  );
const settle = async (isMint = false): Promise<string[]> =>
  outcomesOf(world, await world.settle([matchOf(world, market, taker, maker, { isMint })]));
const owed = (wallet: Trader) => world.read('owed', wallet.address, COLLATERAL);

test.each(['answersFalse', 'reverts'] as const)(
  'collateral that %s settles nothing, and the blame says that the wallet has enough',
  async (mode) => {
    const read = () => balancesOf(world, [taker.address, maker.address], [COLLATERAL, ...market.tokens]);
    const before = await read();
    await behave(mode);
    for (const isMint of [false, true]) {
      const [outcome] = await settle(isMint);
      expect(outcome).toMatch(/^TransferRefused of /);
    }
    expect(await read()).toEqual(before);
  },
);

test('collateral that answers nothing is settled as any other', async () => {
  await behave('answersNothing');
  expect(await settle()).toEqual(['settled']);
  expect(await world.balance(maker.address, COLLATERAL)).toBe(106n * ONE);
});

describe('collateral that the seller cannot receive', () => {
  beforeEach(() => behave('usual', maker.address));

  test('is kept for it and can be claimed', async () => {
    expect(await settle()).toEqual(['settled']);
    expect([await owed(maker), await world.balance(world.exchange, COLLATERAL)]).toEqual([
      6n * ONE,
      6n * ONE,
    ]);
    const claim = (to: string) =>
      refusal(() => world.call(maker.address, 'claim', maker.address, COLLATERAL, to));
    expect(await claim(maker.address)).toBe('DeliveryFailed');
    const other = newTrader().address;
    expect(await claim(other)).toBe('accepted');
    expect(await world.balance(other, COLLATERAL)).toBe(6n * ONE);
  });

  test('stays whole when the token begins to take fees: nothing is split or kept out of it', async () => {
    expect(await settle()).toEqual(['settled']);
    await behave('takesFee', maker.address);
    expect(await settle(true)).toEqual(['CollateralNotExact']);
    expect(await settle(false)).toEqual(['CollateralNotExact']);
    expect([await owed(maker), await world.balance(world.exchange, COLLATERAL)]).toEqual([
      6n * ONE,
      6n * ONE,
    ]);
    await world.call(maker.address, 'claim', maker.address, COLLATERAL, taker.address);
  });
});
