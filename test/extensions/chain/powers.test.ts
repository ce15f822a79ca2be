import { MARKET_EXCHANGE, TEST_COLLATERAL } from '../../../src/chain/artifacts';
import { binaryMarketIds } from '../../../src/chain/ctf';
import { ZERO_ADDRESS } from '../../../src/exchange/order';
import { fundedTrader, matchOf, refusal, settledBy, tellStories } from './stories';
import {
  type ChainMatch,
  collateralAbi,
  ctfAbi,
  DOMAIN_NAME,
  type Market,
  newTrader,
  ONE,
  type Trader,
  type World,
} from './world';

/** The roles, the registry and the deployment: who may do what. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;

tellStories((story) => {
  ({ world, market, taker, maker } = story);
});

const outcomes = (match: ChainMatch) => settledBy(world, [match]);
describe('the roles', () => {
  test('only operators settle, and only until their role is taken', async () => {
    const match = matchOf(world, market, taker, maker);
    const settle = (from: string) => refusal(() => world.call(from, 'settle', [match]));
    const matchOrders = (from: string) =>
      refusal(() =>
        world.call(from, 'matchOrders', match.taker, match.makers, match.takerFill, match.makerFills),
      );
    for (const from of [taker.address, world.admin.address]) {
      expect([await settle(from), await matchOrders(from)]).toEqual(['NotOperator', 'NotOperator']);
    }
    await world.call(world.admin.address, 'addOperator', maker.address);
    expect(await settle(maker.address)).toBe('accepted');
    await world.call(world.admin.address, 'removeOperator', maker.address);
    expect(await settle(maker.address)).toBe('NotOperator');
    expect(await refusal(() => world.call(world.operator.address, 'settleOne', match))).toBe('NotSelf');
  });

  test('a pauser stops trading, and only an admin starts it again', async () => {
    const pauser = await fundedTrader(world, market);
    const match = matchOf(world, market, taker, maker);
    const settle = () => refusal(() => world.settle([match]));
    expect(await refusal(() => world.call(pauser.address, 'pauseTrading'))).toBe('NotPauser');
    await world.call(world.admin.address, 'addPauser', pauser.address);
    await world.call(pauser.address, 'pauseTrading');
    expect(await settle()).toBe('Paused');
    expect(await refusal(() => world.call(pauser.address, 'unpauseTrading'))).toBe('NotAdmin');
    // Wallets can still leave.
    await world.call(maker.address, 'cancelOrder', match.makerOrder);
    await world.call(maker.address, 'raiseNonce', 1n);
    await world.call(world.admin.address, 'unpauseTrading');
    expect(await settle()).toBe('accepted');
    await world.call(world.admin.address, 'removePauser', pauser.address);
    expect(await refusal(() => world.call(pauser.address, 'pauseTrading'))).toBe('NotPauser');
  });

  test.each([
    ['addAdmin', 1],
    ['removeAdmin', 1],
    ['addOperator', 1],
    ['addPauser', 1],
    ['removePauser', 1],
    ['setFeeReceiver', 1],
    ['unpauseTrading', 0],
    ['renounceAdminRole', 0],
  ])('%s is for admins', async (method, count) => {
    for (const from of [taker.address, world.operator.address]) {
      expect(await refusal(() => world.call(from, method, ...[maker.address].slice(0, count)))).toBe(
        'NotAdmin',
      );
    }
  });

  test('an admin who was named is one once it accepts, and no longer named by an admin who was removed', async () => {
    const [first, second, third] = [
      await fundedTrader(world, market),
      await fundedTrader(world, market),
      await fundedTrader(world, market),
    ];
    const accept = (who: Trader) => refusal(() => world.call(who.address, 'acceptAdminRole'));
    expect(await accept(first)).toBe('NotProposed');
    await world.call(world.admin.address, 'addAdmin', first.address);
    expect(await world.read('isAdmin', first.address)).toBe(false);
    expect(await refusal(() => world.call(first.address, 'addOperator', first.address))).toBe('NotAdmin');
    const receipt = await world.call(first.address, 'acceptAdminRole');
    expect(world.eventsOf(receipt)).toEqual([
      { name: 'NewAdmin', args: { newAdminAddress: first.address, admin: world.admin.address } },
    ]);
    expect(await accept(first)).toBe('NotProposed');
    // An admin can take back what it offered, and a removed admin offers nothing.
    await world.call(first.address, 'addAdmin', second.address);
    await world.call(world.admin.address, 'removeAdmin', second.address);
    expect(await accept(second)).toBe('NotProposed');
    await world.call(first.address, 'addAdmin', third.address);
    await world.call(world.admin.address, 'removeAdmin', first.address);
    expect(await accept(third)).toBe('NotProposed');
  });

  test('a pauser removes operators, and gives nobody a role', async () => {
    const pauser = await fundedTrader(world, market);
    const leaked = await fundedTrader(world, market);
    const remove = (from: Trader) =>
      refusal(() => world.call(from.address, 'removeOperator', leaked.address));
    await world.call(world.admin.address, 'addOperator', leaked.address);
    for (const from of [taker, world.operator]) expect(await remove(from)).toBe('NotPauser');
    await world.call(world.admin.address, 'addPauser', pauser.address);
    expect(await remove(pauser)).toBe('accepted');
    const match = matchOf(world, market, taker, maker);
    expect(await refusal(() => world.call(leaked.address, 'settle', [match]))).toBe('NotOperator');
    for (const method of ['addOperator', 'addPauser', 'addAdmin', 'removePauser'])
      expect(await refusal(() => world.call(pauser.address, method, pauser.address))).toBe('NotAdmin');
    await world.call(world.admin.address, 'removePauser', pauser.address);
    expect(await remove(pauser)).toBe('NotPauser');
  });

  test('the zero address gets no role: a signature that is none recovers to it', async () => {
    for (const method of ['addAdmin', 'addOperator', 'addPauser'])
      expect(await refusal(() => world.call(world.admin.address, method, ZERO_ADDRESS))).toBe(
        'InvalidAddress',
      );
  });

  test('an admin can hand over, but the last one stays', async () => {
    const { address } = await fundedTrader(world, market);
    const leave = (who: string) => refusal(() => world.call(who, 'renounceAdminRole'));
    expect(await leave(world.admin.address)).toBe('LastAdmin');
    for (let n = 0; n < 2; n++) {
      await world.call(world.admin.address, 'addAdmin', address);
      await world.call(address, 'acceptAdminRole');
    }
    expect(await refusal(() => world.call(address, 'removeAdmin', maker.address))).toBe('accepted');
    expect(await leave(address)).toBe('accepted');
    expect(await leave(world.admin.address)).toBe('LastAdmin');
  });

  test('fees go to the address that an admin names', async () => {
    const { address } = newTrader();
    const name = (receiver: string) =>
      refusal(() => world.call(world.admin.address, 'setFeeReceiver', receiver));
    expect(await name(ZERO_ADDRESS)).toBe('InvalidAddress');
    expect(await name(world.exchange)).toBe('InvalidAddress');
    expect(await name(address)).toBe('accepted');
    const fee = { feeRateBps: 100n };
    expect(await outcomes(matchOf(world, market, taker, maker, { maker: fee }))).toEqual(['settled']);
    expect(await world.balance(address, 0n)).toBe((10n * ONE * 4n) / 1_000n);
    expect(await name(world.fees.address)).toBe('accepted');
  });
});

test('registerToken takes the two tokens of a prepared condition over the collateral from everybody, and nothing else', async () => {
  const questionId = `0x${'77'.repeat(32)}`;
  const question = { oracle: world.deployer, questionId, collateral: world.collateral };
  const { conditionId, tokenIds } = binaryMarketIds(question);
  const [yes, no] = tokenIds;
  const register = (from: string, ...values: readonly unknown[]) =>
    refusal(() => world.call(from, 'registerToken', ...values));
  expect(await register(taker.address, yes, no, conditionId)).toBe('InvalidTokenId');
  const prepare = ctfAbi.encodeFunctionData('prepareCondition', [world.deployer, questionId, 2]);
  await world.chain.send(world.deployer, world.ctf, prepare);
  expect(await register(taker.address, no, yes, conditionId)).toBe('InvalidTokenId');
  expect(await register(taker.address, yes, yes, conditionId)).toBe('InvalidTokenId');
  const elsewhere = binaryMarketIds({ ...question, collateral: world.ctf }).tokenIds;
  expect(await register(taker.address, ...elsewhere, conditionId)).toBe('InvalidTokenId');
  expect(await register(taker.address, yes, no, conditionId)).toBe('accepted');
  expect(await register(world.admin.address, yes, no, conditionId)).toBe('AlreadyRegistered');
  expect(await world.read('getComplement', no)).toBe(BigInt(yes));
  expect(await world.read('getConditionId', yes)).toBe(conditionId);
  expect(await refusal(() => world.read('validateComplement', yes, yes) as Promise<unknown>)).toBe(
    'InvalidComplement',
  );
});

describe('the test collateral', () => {
  test('everyone can mint up to a million in a call', async () => {
    const mint = (amount: bigint) =>
      world.chain.send(
        taker.address,
        world.collateral,
        collateralAbi.encodeFunctionData('mint', [taker.address, amount]),
      );
    await mint(1_000_000n * ONE);
    await expect(mint(1_000_000n * ONE + 1n)).rejects.toThrow();
    expect(await world.balance(taker.address, 0n)).toBe(1_000_100n * ONE);
    expect(await world.chain.read(world.collateral, collateralAbi, 'decimals')).toBe(18n);
  });

  test('cannot be deployed where it could be taken for money', async () => {
    const data = TEST_COLLATERAL.bytecode;
    for (const chainId of ['0x1', '0x38', '0x89']) {
      await world.chain.ask('anvil_setChainId', Number(chainId));
      await expect(world.chain.ask('eth_call', { data }, 'latest')).rejects.toThrow();
    }
    await world.chain.ask('anvil_setChainId', 97);
    await world.chain.ask('eth_call', { data }, 'latest');
  });
});

test('the exchange contract is not deployed over addresses without code, or without an admin or a fee receiver', async () => {
  const nobody = newTrader().address;
  const deploy =
    (collateral: string, ctf: string, receiver: string, admin = world.admin.address) =>
    () =>
      world.chain.deploy(world.deployer, MARKET_EXCHANGE, [DOMAIN_NAME, collateral, ctf, admin, receiver]);
  const { collateral, ctf } = world;
  expect(await refusal(deploy(nobody, ctf, nobody))).toBe('InvalidAddress');
  expect(await refusal(deploy(collateral, nobody, nobody))).toBe('InvalidAddress');
  expect(await refusal(deploy(collateral, ctf, ZERO_ADDRESS))).toBe('InvalidAddress');
  expect(await refusal(deploy(collateral, ctf, nobody, ZERO_ADDRESS))).toBe('InvalidAddress');
  expect(await refusal(deploy(collateral, ctf, nobody))).toBe('accepted');
});
