import { TypedDataEncoder } from 'ethers';
import { matchOf, refusal, settledBy, tellStories } from './stories';
import { type ChainMatch, type Market, ONE, type Trader, type World } from './world';

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

/** An EIP-712 signature in the domain of the orders. */
const signTyped = (
  signer: Trader,
  name: string,
  members: readonly string[],
  value: Record<string, unknown>,
): string => {
  const types = {
    [name]: members.map((member) => ({ type: member.split(' ')[0] ?? '', name: member.split(' ')[1] ?? '' })),
  };
  return signer.key.sign(TypedDataEncoder.hash(world.domain, types, value)).serialized;
};
const cancelSignature = (signer: Trader, order: ChainMatch['taker'], deadline: bigint): string =>
  signTyped(signer, 'CancelOrder', ['bytes32 orderHash', 'uint256 deadline'], {
    orderHash: world.hashOf(order),
    deadline,
  });
const raiseSignature = (signer: Trader, wallet: string, nonce: bigint, deadline: bigint): string =>
  signTyped(signer, 'RaiseNonce', ['address wallet', 'uint256 nonce', 'uint256 deadline'], {
    wallet,
    nonce,
    deadline,
  });

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

  test('cannot be postponed or hurried by a second one, and tells both events once', async () => {
    const { makerOrder } = matchOf(world, market, taker, maker);
    const first = await world.call(maker.address, 'cancelOrders', [makerOrder, makerOrder]);
    const at = await world.read('cancelledAt', world.hashOf(makerOrder));
    expect(at).toBe((await now()) + BigInt(DELAY_SEC));
    expect(world.eventsOf(first).map(({ name }) => name)).toEqual(['OrderCancelled', 'CancelEffective']);
    await pass(60);
    expect(world.eventsOf(await world.call(maker.address, 'cancelOrder', makerOrder))).toEqual([]);
    expect(await world.read('cancelledAt', world.hashOf(makerOrder))).toBe(at);
  });

  test('takes effect at once with the signature of an operator', async () => {
    const match = matchOf(world, market, taker, maker);
    const deadline = (await now()) + 600n;
    const signature = cancelSignature(world.operator, match.makerOrder, deadline);
    await world.call(maker.address, 'cancelOrderNow', match.makerOrder, deadline, signature);
    expect(await isOver(match.makerOrder)).toBe(true);
    expect(await outcomes(match)).toEqual([`OrderFilledOrCancelled of ${maker.address}`]);
  });

  test('is refused to others, and with a signature that is not an operator’s, of another order or too old', async () => {
    const { makerOrder, taker: takerOrder } = matchOf(world, market, taker, maker);
    const deadline = (await now()) + 600n;
    const cancelNow = (from: Trader, until: bigint, signature: string) => () =>
      world.call(from.address, 'cancelOrderNow', makerOrder, until, signature);
    const good = cancelSignature(world.operator, makerOrder, deadline);
    expect(await refusal(() => world.call(taker.address, 'cancelOrder', makerOrder))).toBe('NotOwner');
    expect(await refusal(cancelNow(taker, deadline, good))).toBe('NotOwner');
    expect(await refusal(cancelNow(maker, deadline + 1n, good))).toBe('NotOperator');
    expect(await refusal(cancelNow(maker, deadline, cancelSignature(maker, makerOrder, deadline)))).toBe(
      'NotOperator',
    );
    expect(
      await refusal(cancelNow(maker, deadline, cancelSignature(world.operator, takerOrder, deadline))),
    ).toBe('NotOperator');
    expect(await refusal(cancelNow(maker, deadline, '0x'))).toBe('NotOperator');
    await pass(601);
    expect(await refusal(cancelNow(maker, deadline, good))).toBe('DeadlinePassed');
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
    expect(await raise(2n ** 96n)).toBe('InvalidNonce');
    await world.call(maker.address, 'incrementNonce');
    expect(await raise(7n)).toBe('NonceIsBeingRaised');
    await pass(DELAY_SEC);
    expect(await raise(1n)).toBe('InvalidNonce');
    expect(await raise(7n)).toBe('accepted');
  });

  test('takes effect at once with the signature of an operator, also while another raise is pending', async () => {
    const deadline = (await now()) + 600n;
    const raiseNow = (nonce: bigint, signer: Trader, wallet = maker.address) =>
      refusal(() =>
        world.call(
          maker.address,
          'raiseNonceNow',
          nonce,
          deadline,
          raiseSignature(signer, wallet, nonce, deadline),
        ),
      );
    await world.call(maker.address, 'raiseNonce', 5n);
    expect(await raiseNow(4n, world.operator)).toBe('NonceIsBeingRaised');
    expect(await raiseNow(6n, maker)).toBe('NotOperator');
    expect(await raiseNow(6n, world.operator, taker.address)).toBe('NotOperator');
    expect(await raiseNow(6n, world.operator)).toBe('accepted');
    expect(await world.read('minNonce', maker.address)).toBe(6n);
    expect(await outcomes(withNonce(5n))).toEqual([`InvalidNonce of ${maker.address}`]);
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
});
