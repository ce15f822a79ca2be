import { readUInt } from '../../../src/store/records/layout';
import { decodeState } from '../../../src/store/records/market';
import { alice, bob, carla, type EngineWorld, NO, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

/** Alice buys Yes for 0.60, Bob No for 0.40: 100 sets. Both also have orders that rest. */
async function hundredSets(w: EngineWorld): Promise<void> {
  await w.market();
  await w.place(w.buy(alice, YES, '100', '0.60'));
  expect(told(await w.place(w.buy(bob, NO, '100', '0.40'))).fills).toEqual(['100 @ 0.4 MINT']);
  await w.place(w.sell(alice, YES, '30', '0.90'));
  await w.place(w.buy(bob, NO, '50', '0.05'));
}

async function windUp(w: EngineWorld, most = 200): Promise<number> {
  while ((await w.engine.clearBook('market00', most)).left);
  let paid = 0;
  for (;;) {
    const step = await w.engine.payHolders('market00', most);
    paid += step.paid;
    if (!step.left) return paid;
  }
}

test('a winning token pays 1, the other nothing, orders are returned first, and all tokens are deleted', async () => {
  const w = world();
  await hundredSets(w);
  await w.engine.resolveMarket('market00', YES);
  await expect(w.place(w.buy(carla, YES, '1', '0.95'))).rejects.toMatchObject({ code: 'MARKET_NOT_OPEN' });
  // No holder is paid while an order rests.
  expect(await w.engine.payHolders('market00')).toEqual({ paid: 0, left: true });
  expect(await windUp(w)).toBe(2);
  expect(await w.balance(alice)).toEqual({ cash: '10040 (0)', yes: '0 (0)', no: '0 (0)' });
  expect(await w.balance(bob)).toEqual({ cash: '9960 (0)', yes: '0 (0)', no: '0 (0)' });
  expect(await w.book()).toMatchObject({ bids: [], asks: [], openInterest: '0', liquidity: '0' });
  const { markets, wallets } = await w.state([alice, bob]);
  expect([...(markets[0]?.tokens ?? [])]).toEqual([]);
  expect(wallets.map(({ markets: held }) => held)).toEqual([[], []]);
});

test('repeating any step pays no holder again', async () => {
  const w = world();
  await hundredSets(w);
  await w.engine.resolveMarket('market00', NO);
  await windUp(w, 1);
  const [before, told_] = [await w.state([alice, bob]), (await w.outbox()).length];
  await w.engine.resolveMarket('market00', NO);
  expect(await windUp(w)).toBe(0);
  expect(await w.state([alice, bob])).toEqual(before);
  expect(await w.outbox()).toHaveLength(told_);
  expect((await w.balance(bob)).cash).toBe('10060 (0)');
});

test('a result is permanent', async () => {
  const w = world();
  await hundredSets(w);
  await w.engine.resolveMarket('market00', YES);
  const ended = { code: 'MARKET_NOT_OPEN', message: 'the market is RESOLVED' };
  await expect(w.engine.resolveMarket('market00', NO)).rejects.toMatchObject(ended);
  await expect(w.engine.resolveMarket('market00', null)).rejects.toMatchObject(ended);
  await expect(w.engine.moveMarket('market00', 'OPEN', ['DRAFT', 'PAUSED'])).rejects.toMatchObject(ended);
  await expect(w.split(carla, '1')).rejects.toMatchObject(ended);
  await expect(w.engine.resolveMarket('nowhere0', YES)).rejects.toMatchObject({ code: 'MARKET_NOT_FOUND' });
  await w.engine.createMarket({ id: 'draft000', conditionId: '0xd', slug: 'draft' }, '{}', 'DRAFT');
  await expect(w.engine.resolveMarket('draft000', null)).rejects.toMatchObject({
    message: 'the market is DRAFT',
  });
});

test.each(['PAUSED', 'CLOSED'] as const)('a market that is %s can be resolved, too', async (status) => {
  const w = world();
  await hundredSets(w);
  await w.engine.moveMarket('market00', status, ['OPEN']);
  await w.engine.resolveMarket('market00', YES);
  await windUp(w);
  expect((await w.balance(alice)).cash).toBe('10040 (0)');
});

test('the fee account is paid for its tokens like every holder', async () => {
  const w = world();
  await w.market({ feeRateBps: 200 });
  await w.place(w.buy(bob, NO, '100', '0.40'));
  await w.place(w.buy(alice, YES, '100', '0.60'));
  // 2 % of min(p, 1 - p) / p of the tokens: 1.333333 Yes of Alice, 2 No of Bob.
  expect(await w.balance('fee')).toEqual({ cash: '0 (0)', yes: '1.333333 (0)', no: '2 (0)' });
  await w.engine.resolveMarket('market00', YES);
  expect(await windUp(w)).toBe(3);
  expect(await w.balance('fee')).toEqual({ cash: '1.333333 (0)', yes: '0 (0)', no: '0 (0)' });
  expect((await w.balance(alice)).cash).toBe('10038.666667 (0)');
});

test('a void market pays a half for each token, and whole micro-units from two halves go to the exchange', async () => {
  const w = world();
  await w.market({ feeRateBps: 200 });
  await w.place(w.buy(bob, NO, '100', '0.40'));
  await w.place(w.buy(alice, YES, '100', '0.60'));
  await w.engine.resolveMarket('market00', null);
  expect(await windUp(w, 1)).toBe(3);
  // Alice had 98.666667 Yes, the exchange 1.333333 Yes and 2 No: each lacks a half, together a whole one.
  expect((await w.balance(alice)).cash).toBe('9989.333333 (0)');
  expect((await w.balance(bob)).cash).toBe('10009 (0)');
  expect((await w.balance('fee')).cash).toBe('1.666667 (0)');
  expect((await w.book()).openInterest).toBe('0');
  expect(await w.redis.hlen(w.keys.paid('market00'))).toBe(3);
  const paid = await w.redis.hgetBuffer(w.keys.paid('market00'), 'fee');
  expect([0, 7, 14].map((at) => readUInt(paid ?? Buffer.alloc(0), at, 7))).toEqual([
    1_333_333, 2_000_000, 1_666_666,
  ]);
});

test('the market shows its result, and the outbox the paid wallets', async () => {
  const w = world();
  await hundredSets(w);
  await w.clock(w.now() + 5_000);
  await w.engine.resolveMarket('market00', YES);
  const news = (await w.outbox()).length;
  await windUp(w);
  const told_ = (await w.outbox()).slice(news);
  expect(told_.map(({ kind }) => kind)).toEqual(['CANCEL', 'BALANCE', 'MARKET']);
  const paid = new Map(told_[1]?.wallets.map((wallet, i) => [wallet, told_[1]?.moves[i]]));
  expect(paid.get(alice)).toEqual({
    reason: 'REDEEM',
    collateralMicro: 100_000_000,
    yesMicro: 100_000_000,
    noMicro: 0,
  });
  expect(paid.get(bob)).toMatchObject({ collateralMicro: 0, noMicro: 100_000_000 });
  const state = decodeState(
    Object.entries(await w.redis.hgetallBuffer(w.keys.market('market00'))).flatMap(([name, value]) => [
      Buffer.from(name),
      value,
    ]),
  );
  expect(state).toMatchObject({ status: 'RESOLVED', resolution: { outcome: 0, resolvedAtMs: w.now() } });
});

describe('with a delay before the payout', () => {
  const DELAY_MS = 600_000;

  async function resolved(w: EngineWorld, outcome: 0 | 1 | null = YES): Promise<void> {
    await hundredSets(w);
    await w.engine.resolveMarket('market00', outcome, null, DELAY_MS);
  }

  test('orders rest and nobody is paid until the moment has come; then everybody is', async () => {
    const w = world();
    await resolved(w);
    const before = await w.balance(alice);
    await w.clock(w.now() + DELAY_MS - 1);
    expect(await windUp(w)).toBe(0);
    expect(await w.balance(alice)).toEqual(before);
    expect((await w.book()).asks).not.toEqual([]);
    await expect(w.place(w.buy(carla, YES, '1', '0.95'))).rejects.toMatchObject({ code: 'MARKET_NOT_OPEN' });
    await w.clock(w.now() + 1);
    expect(await windUp(w)).toBe(2);
    expect((await w.balance(alice)).cash).toBe('10040 (0)');
    expect(await w.engine.unresolveMarket('market00').catch(({ code }) => code)).toBe('MARKET_NOT_OPEN');
    expect((await w.balance(alice)).cash).toBe('10040 (0)');
  });

  test('from that moment on the result stays, even though nobody was paid yet', async () => {
    const w = world();
    await resolved(w);
    await w.clock(w.now() + DELAY_MS);
    await expect(w.engine.unresolveMarket('market00')).rejects.toMatchObject({ code: 'MARKET_NOT_OPEN' });
    expect(await windUp(w)).toBe(2);
  });

  test('a result that was taken back leaves the book as it was, and another may follow', async () => {
    const w = world();
    await resolved(w, NO);
    const { sequence, ...book } = await w.book();
    await w.engine.unresolveMarket('market00');
    await w.engine.unresolveMarket('market00');
    expect(await w.book()).toEqual({ ...book, sequence: sequence + 1 });
    expect(await w.redis.sismember(w.keys.ending, 'market00')).toBe(0);
    await w.clock(w.now() + 2 * DELAY_MS);
    expect(await windUp(w)).toBe(0);
    await w.engine.moveMarket('market00', 'OPEN', ['PAUSED']);
    expect(told(await w.place(w.buy(carla, YES, '10', '0.95'))).result).toBe('FILLED 10 of 10');
    await w.engine.resolveMarket('market00', YES, null, DELAY_MS);
    expect(await windUp(w)).toBe(0);
    await w.clock(w.now() + DELAY_MS);
    expect(await windUp(w)).toBe(3);
  });
});
