import { id as keccakOfText } from 'ethers';
import { fundedTrader, matchOf, newId, refusal, settledBy, tellStories } from './stories';
import { type ChainMatch, ctfAbi, type Market, ONE, type Trader, type World } from './world';

/** Cancels and raised nonces: who may end an order, and when it takes effect. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;
const DELAY_SEC = 120;

tellStories((story) => {
  ({ world, market, taker, maker } = story);
});

const outcomes = (match: ChainMatch) => settledBy(world, [match]);
const isOver = async (order: ChainMatch['taker']): Promise<boolean> =>
  ((await world.read('getOrderStatus', world.hashOf(order))) as [boolean])[0];

async function now(): Promise<bigint> {
  const { timestamp } = await world.chain.ask<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  return BigInt(timestamp);
}
/** The next block is this much later. */
async function pass(seconds: number): Promise<void> {
  await world.chain.ask('evm_setNextBlockTimestamp', Number(await now()) + seconds);
  await world.chain.ask('evm_mine');
}

describe('a cancel', () => {
  test('takes effect after 120 s: until then the order can be filled', async () => {
    const match = matchOf(world, market, taker, maker);
    const part = { takerFill: 3n * ONE, makerFills: [5n * ONE] };
    await world.call(maker.address, 'cancelOrder', match.makerOrder);
    expect(await isOver(match.makerOrder)).toBe(false);
    await pass(DELAY_SEC - 100);
    expect(await outcomes({ ...match, ...part })).toEqual(['settled']);
    await pass(100);
    expect(await isOver(match.makerOrder)).toBe(true);
    const blamed = `OrderFilledOrCancelled of ${maker.address}`;
    expect(await outcomes({ ...match, ...part, id: match.id + (1n << 90n) })).toEqual([blamed]);
    expect(await world.read('getOrderStatus', world.hashOf(match.makerOrder))).toEqual([true, 5n * ONE]);
  });

  test('cannot be postponed or hurried by a second one, and is announced once', async () => {
    const { makerOrder } = matchOf(world, market, taker, maker);
    const first = await world.call(maker.address, 'cancelOrders', [makerOrder, makerOrder]);
    const at = await world.read('cancelledAt', world.hashOf(makerOrder));
    expect(at).toBe((await now()) + BigInt(DELAY_SEC));
    const args = { orderHash: world.hashOf(makerOrder), maker: maker.address, effectiveAt: at };
    expect(world.eventsOf(first)).toEqual([{ name: 'CancelRequested', args }]);
    await pass(60);
    expect(world.eventsOf(await world.call(maker.address, 'cancelOrder', makerOrder))).toEqual([]);
    expect(await world.read('cancelledAt', world.hashOf(makerOrder))).toBe(at);
  });

  test('is refused to others', async () => {
    const { makerOrder } = matchOf(world, market, taker, maker);
    expect(await refusal(() => world.call(taker.address, 'cancelOrder', makerOrder))).toBe('NotOwner');
    expect(await world.read('cancelledAt', world.hashOf(makerOrder))).toBe(0n);
  });
});

describe('a raised nonce', () => {
  const withNonce = (nonce: bigint) => matchOf(world, market, taker, maker, { maker: { nonce } });

  test('voids lower orders after 120 s, and orders of the same or a higher nonce stay valid', async () => {
    const matches = [4n, 5n, 99n]
      .map(withNonce)
      .map((match) => ({ ...match, takerFill: 3n * ONE, makerFills: [5n * ONE] }));
    await world.call(maker.address, 'raiseNonce', 5n);
    expect(await world.read('minNonce', maker.address)).toBe(0n);
    expect(await world.read('pendingNonce', maker.address)).toEqual([5n, (await now()) + 120n]);
    expect(await outcomes(matches[0] as ChainMatch)).toEqual(['settled']);
    await pass(DELAY_SEC);
    expect([await world.read('minNonce', maker.address), await world.read('nonces', maker.address)]).toEqual([
      5n,
      5n,
    ]);
    expect(await world.read('pendingNonce', maker.address)).toEqual([0n, 0n]);
    expect(await world.read('isValidNonce', maker.address, 4n)).toBe(false);
    const [low, same, high] = matches.map((match) => ({ ...match, id: match.id + (1n << 91n) }));
    expect(await outcomes(low as ChainMatch)).toEqual([`InvalidNonce of ${maker.address}`]);
    expect(await outcomes(same as ChainMatch)).toEqual(['settled']);
    expect(await outcomes(high as ChainMatch)).toEqual(['settled']);
  });

  test('only rises, one raise at a time', async () => {
    const raise = (nonce: bigint) => refusal(() => world.call(maker.address, 'raiseNonce', nonce));
    expect(await raise(0n)).toBe('InvalidNonce');
    expect(await raise(1_000_001n)).toBe('InvalidNonce');
    await world.call(maker.address, 'incrementNonce');
    expect(await raise(7n)).toBe('NonceIsBeingRaised');
    await pass(DELAY_SEC);
    expect(await raise(1n)).toBe('InvalidNonce');
    expect(await raise(7n)).toBe('accepted');
  });

  test('is announced with the second from which it counts', async () => {
    const receipt = await world.call(maker.address, 'raiseNonce', 3n);
    const args = { user: maker.address, newNonce: 3n, effectiveAt: (await now()) + BigInt(DELAY_SEC) };
    expect(world.eventsOf(receipt)).toEqual([{ name: 'NonceRaiseRequested', args }]);
  });

  test('no order survives every raise: a nonce far above the wallet’s cannot be filled', async () => {
    const most = 1_000_000n;
    const isValid = (nonce: bigint) => world.read('isValidNonce', maker.address, nonce);
    expect(await outcomes(withNonce(2n ** 97n))).toEqual(['NonceTooHigh']);
    expect(await outcomes(withNonce(most + 1n))).toEqual(['NonceTooHigh']);
    expect([await isValid(most), await isValid(most + 1n)]).toEqual([true, false]);
    expect(await outcomes(withNonce(most))).toEqual(['settled']);
    // What the exchange takes by a raise that is pending, the contract takes, too.
    await world.call(maker.address, 'raiseNonce', 5n);
    expect(await outcomes(withNonce(most + 5n))).toEqual(['settled']);
    expect(await outcomes(withNonce(most + 6n))).toEqual(['NonceTooHigh']);
  });
});

test('an order expires with the second that it signed', async () => {
  const expiration = (await now()) + 5_000n;
  const match = matchOf(world, market, taker, maker, { maker: { expiration } });
  const half = { takerFill: 3n * ONE, makerFills: [5n * ONE] };
  await world.chain.ask('evm_setNextBlockTimestamp', Number(expiration) - 1);
  expect(await outcomes({ ...match, ...half })).toEqual(['settled']);
  await world.chain.ask('evm_setNextBlockTimestamp', Number(expiration));
  expect(await outcomes({ ...match, ...half, id: match.id + (1n << 92n) })).toEqual(['OrderExpired']);
});

test('a cancel of an order that is filled changes nothing', async () => {
  const match = matchOf(world, market, taker, maker);
  expect(await outcomes(match)).toEqual(['settled']);
  expect(world.eventsOf(await world.call(maker.address, 'cancelOrder', match.makerOrder))).toEqual([]);
  expect(await world.read('cancelledAt', world.hashOf(match.makerOrder))).toBe(0n);
});

test('validateOrder names the reason for which an order could not be filled', async () => {
  const { makerOrder } = matchOf(world, market, taker, maker);
  const validate = (order: object) => refusal(() => world.read('validateOrder', order));
  expect(await validate(makerOrder)).toBe('accepted');
  expect(await validate({ ...makerOrder, nonce: 1n })).toBe('InvalidSignature');
  expect(await validate({ ...makerOrder, expiration: 1n })).toBe('OrderExpired');
  await world.call(maker.address, 'cancelOrder', makerOrder);
  await pass(DELAY_SEC);
  expect(await validate(makerOrder)).toBe('OrderFilledOrCancelled');
  const other = matchOf(world, market, taker, maker, { maker: { tokenId: 5n } });
  expect(await validate(other.makerOrder)).toBe('InvalidTokenId');
  await world.call(world.admin.address, 'pauseTrading');
  expect(await validate(matchOf(world, market, taker, maker).makerOrder)).toBe('Paused');
  await world.call(world.admin.address, 'unpauseTrading');
});

test('what is left of an order cannot be filled once its condition is paid out', async () => {
  const over = await world.openMarket('paid out');
  const [one, other] = [await fundedTrader(world, over), await fundedTrader(world, over)];
  const match = matchOf(world, over, one, other);
  const half = { takerFill: 3n * ONE, makerFills: [5n * ONE] };
  expect(await outcomes({ ...match, ...half })).toEqual(['settled']);
  const payouts = ctfAbi.encodeFunctionData('reportPayouts', [keccakOfText('paid out'), [1n, 0n]]);
  await world.chain.send(world.deployer, world.ctf, payouts);
  expect(await outcomes({ ...match, ...half, id: newId() })).toEqual(['ConditionResolved']);
  const minted = matchOf(world, over, one, other, { isMint: true });
  expect(await outcomes(minted)).toEqual(['ConditionResolved']);
  expect(await refusal(() => world.read('validateOrder', match.makerOrder))).toBe('ConditionResolved');
  expect(await outcomes(matchOf(world, market, taker, maker))).toEqual(['settled']);
});
