import { chainScale } from '../../../src/exchange/order';
import type { RunScript } from '../../../src/store/redis/scripts';
import { createEngine } from '../../../src/store/verbs/engine';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { createAudit } from '../../support/audit';
import { alice, bob, carla, type EngineWorld, NO, parseMicro, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds({ makersMax: 3 });

/** The process that places dies between the first step and the second. */
const dying =
  (run: RunScript): RunScript =>
  async (name, keys, args) => {
    if (name === 'continue_order') throw new Error('killed');
    return run(name, keys, args);
  };

/** `count` offers of bob, 1 share each at 0.61. */
async function offers(count: number, feeRateBps = 0) {
  const w = world();
  await w.market({ feeRateBps });
  for (let i = 0; i < count; i++) await w.place(w.buy(bob, NO, '1', '0.39'));
  const { run, keys } = w;
  const dead = createEngine({ run: dying(run), keys, grantMicro: parseMicro('10000'), makersMax: 3 });
  const begin = (request: PlaceRequest) => expect(dead.place(request)).rejects.toThrow('killed');
  const audit = createAudit({ redis: w.redis, run, keys, scale: chainScale(18) });
  /** Matches without settlement records are no difference here. */
  const differences = async () =>
    (await audit()).differences.filter(({ kind }) => !/SETTLEMENT|POSITION|JOURNAL|DOCUMENT/.test(kind));
  const fillsOf = async ({ orderHash }: PlaceRequest) => {
    const [record, rest, ...matches] = await run(
      'read_fills',
      [keys.orders],
      [keys.prefix, Buffer.from(orderHash.slice(2), 'hex'), 0, 0, 0, 501],
    );
    return { record, rest: rest.toString(), matches: matches.length };
  };
  return { ...w, begin, differences, fillsOf };
}

test('an order that meets more makers than a step may is booked as one of one step is', async () => {
  const w = await offers(8);
  const order = w.buy(alice, YES, '100', '0.62');
  const reply = await w.place(order);
  expect(told(reply).result).toBe('PARTIALLY_FILLED 8 of 100');
  const places = reply.fills.map(({ sequence, index }) => `${sequence}-${index}`);
  expect(places.join(' ')).toBe('10-0 10-1 10-2 11-0 11-1 11-2 12-0 12-1');
  expect(await w.book()).toMatchObject({ bids: ['0.62 92 1'], asks: [], sequence: 12 });
  expect(await w.balance(alice)).toEqual({ cash: '9938.08 (57.04)', yes: '8 (0)', no: '0 (0)' });
  expect(await w.fillsOf(order)).toMatchObject({ rest: '', matches: 3 });
  expect(await w.differences()).toEqual([]);
  // As a maker its chain of fills goes on behind its steps.
  await w.place(w.sell(alice, YES, '2', '0.62'));
  expect(await w.fillsOf(order)).toMatchObject({ rest: '', matches: 4 });
  await w.engine.cancel(null, alice, order.orderHash, 'USER');
  expect(await w.differences()).toEqual([]);
});

test.each([
  [500, 'PARTIALLY_FILLED 500 of 10000', '0.62 9500 1', 1],
  [1100, 'PARTIALLY_FILLED 1100 of 10000', '0.62 8900 1', 3],
])('%i offers of one share do not end an order of 10,000', async (count, result, bid, steps) => {
  const w = await offers(0);
  const engine = createEngine({ run: w.run, keys: w.keys, grantMicro: parseMicro('10000'), makersMax: 500 });
  await Promise.all(Array.from({ length: count }, () => w.place(w.buy(bob, NO, '1', '0.39'))));
  const order = w.buy(alice, YES, '10000', '0.62');
  const reply = await engine.place(order);
  expect(told(reply).result).toBe(result);
  expect(reply.fills).toHaveLength(count);
  expect(await w.book()).toMatchObject({ bids: [bid], asks: [] });
  expect((await w.fillsOf(order)).matches).toBe(Math.min(steps, 2));
  expect(await w.differences()).toEqual([]);
});

test('every type but FOK takes as many steps as it needs', async () => {
  const w = await offers(16);
  const one = async (request: PlaceRequest) => told(await w.place(request)).result;
  expect(await one(w.buy(alice, YES, '4', '0.61', { type: 'IOC' }))).toBe('FILLED 4 of 4');
  const market = { type: 'MARKET', budget: '2.5' } as const;
  expect(await one(w.buy(alice, YES, '1', '0.99', market))).toBe('FILLED 4.09 of 4.09');
  expect(await one(w.buy(alice, YES, '4', '0.61', { prevention: 'CANCEL_BOTH' }))).toBe('FILLED 4 of 4');
  await expect(w.place(w.buy(alice, YES, '3.5', '0.61', { type: 'FOK' }))).rejects.toMatchObject({
    code: 'FOK_NOT_FILLED',
    extra: { available: '2.91' },
  });
  const dry = await w.place(w.buy(alice, YES, '3.5', '0.61', { dryRun: true }));
  expect(told(dry).result).toBe('PARTIALLY_FILLED 2.91 of 3.5');
  expect(await one(w.buy(alice, YES, '9', '0.61', { type: 'IOC' }))).toBe(
    'CANCELLED IOC_REMAINDER 3.91 of 9',
  );
  expect(await w.differences()).toEqual([]);
});

test('the makers that an order cancels as its own count, and it rests untouched behind them', async () => {
  const w = await offers(0);
  for (let i = 0; i < 4; i++) await w.place(w.buy(alice, NO, '1', '0.39'));
  const order = w.buy(alice, YES, '5', '0.62', { prevention: 'CANCEL_MAKER' });
  expect(told(await w.place(order)).result).toBe('OPEN 0 of 5');
  expect(await w.book()).toMatchObject({ bids: ['0.62 5 1'], asks: [] });
  expect(await w.balance(alice)).toMatchObject({ cash: '9996.9 (3.1)' });
  expect(await w.differences()).toEqual([]);
});

test('fees are those of all fills, whatever the steps', async () => {
  const w = await offers(7, 100);
  expect(told(await w.place(w.buy(alice, YES, '7', '0.61'))).result).toBe('FILLED 7 of 7');
  const [taker, maker, fee] = await Promise.all([alice, bob, 'fee'].map((who) => w.balance(who)));
  // 1 % of 0.39 a share, in shares worth 0.61 and 0.39.
  expect(taker?.yes).toBe('6.955249 (0)');
  expect(maker?.no).toBe('6.93 (0)');
  expect(fee).toEqual({ cash: '0 (0)', yes: '0.044751 (0)', no: '0.07 (0)' });
  expect(await w.differences()).toEqual([]);
});

test('a replacement takes its steps, too', async () => {
  const w = await offers(7);
  const old = w.buy(alice, YES, '100', '0.10');
  await w.place(old);
  const reply = await w.engine.replace(w.buy(alice, YES, '100', '0.62'), old.orderHash);
  expect(told(reply).result).toBe('PARTIALLY_FILLED 7 of 100');
  expect(reply.old).toMatchObject({ status: 'CANCELLED', reason: 'REPLACED' });
  expect(await w.book()).toMatchObject({ bids: ['0.62 93 1'], asks: [] });
  expect(await w.differences()).toEqual([]);
});

describe('when the process dies between two steps', () => {
  async function begun(size = '100', more: Parameters<EngineWorld['buy']>[4] = {}) {
    const w = await offers(8);
    const order = w.buy(alice, YES, size, '0.62', more);
    await w.begin(order);
    const result = async () => told({ ...(await w.place(order)), fills: [] }).result;
    return { ...w, order, result };
  }

  test('the order rests nowhere, reserves nothing and has its first fills', async () => {
    const w = await begun();
    expect(await w.book()).toMatchObject({ bids: [], asks: ['0.61 5 5'] });
    expect(await w.balance(alice)).toEqual({ cash: '9998.17 (0)', yes: '3 (0)', no: '0 (0)' });
    expect(await w.fillsOf(w.order)).toMatchObject({ rest: '', matches: 1 });
    expect(await w.engine.cancelAll(alice, {})).toMatchObject({ cancelled: [] });
    expect(await w.differences()).toEqual([]);
  });

  test('sending it again continues it, once', async () => {
    const w = await begun();
    const reply = await w.place(w.order);
    expect([reply.replayed, told(reply).result]).toEqual([true, 'PARTIALLY_FILLED 8 of 100']);
    expect(await w.result()).toBe('PARTIALLY_FILLED 8 of 100');
    expect(await w.book()).toMatchObject({ bids: ['0.62 92 1'], asks: [], sequence: 12 });
    expect(await w.differences()).toEqual([]);
  });

  test('another type of it continues nothing', async () => {
    const w = await begun();
    const reply = await w.place({ ...w.order, orderType: 'IOC' });
    expect(told(reply).result).toBe('PARTIALLY_FILLED 3 of 100');
    expect((await w.book()).asks).toEqual(['0.61 5 5']);
  });

  test('others may come in between', async () => {
    const w = await begun();
    expect(told(await w.place(w.buy(carla, YES, '4', '0.61'))).result).toBe('FILLED 4 of 4');
    await w.place(w.buy(carla, NO, '1', '0.40'));
    expect(await w.result()).toBe('PARTIALLY_FILLED 5 of 100');
    expect(await w.book()).toMatchObject({ bids: ['0.62 95 1'], asks: [] });
    expect(await w.differences()).toEqual([]);
  });

  test('the rest is cancelled when it is not continued for 5 s', async () => {
    const w = await begun();
    await w.clock(w.now() + 4_000);
    expect(await w.engine.expire()).toMatchObject({ expired: 0 });
    await w.clock(w.now() + 1_000);
    expect(await w.engine.expire()).toMatchObject({ expired: 1 });
    expect(await w.result()).toBe('CANCELLED MATCH_LIMIT 3 of 100');
    expect((await w.outbox()).at(-1)).toMatchObject({ kind: 'CANCEL', sequence: 11 });
    expect(await w.differences()).toEqual([]);
  });

  test('an order with an expiration expires at it, once it rests', async () => {
    const w = await begun('100', { expires: 1_800_000_100 });
    expect(await w.result()).toBe('PARTIALLY_FILLED 8 of 100');
    await w.clock(w.now() + 99_000);
    expect(await w.engine.expire()).toMatchObject({ expired: 0 });
    expect(await w.differences()).toEqual([]);
    await w.clock(w.now() + 1_000);
    expect(await w.engine.expire()).toMatchObject({ expired: 1 });
    expect(await w.result()).toBe('EXPIRED EXPIRED 8 of 100');
  });

  test('its wallet cancels it by its hash, alone or with others', async () => {
    const w = await begun();
    const reply = await w.engine.cancel(null, alice, w.order.orderHash, 'USER');
    expect(reply).toMatchObject({ cancelled: true, sequence: 11, record: { reason: 'USER' } });
    const other = w.buy(alice, YES, '50', '0.61');
    await w.begin(other);
    const resting = w.buy(alice, YES, '1', '0.10');
    await w.place(resting);
    const hashes = [other, resting, other].map(({ orderHash }) => orderHash);
    const { results, sequence } = await w.engine.cancelMany('market00', alice, hashes, 'USER');
    expect(results.map(({ cancelled, record }) => [cancelled, record?.status])).toEqual(
      Array(3).fill([true, 'CANCELLED']),
    );
    expect(sequence).toBe((await w.book()).sequence);
    expect(await w.result()).toBe('CANCELLED USER 3 of 100');
    expect(await w.differences()).toEqual([]);
  });

  test.each<[string, (w: Omit<EngineWorld, 'order'>) => Promise<unknown>]>([
    ['the market is paused', ({ engine }) => engine.moveMarket('market00', 'PAUSED', ['OPEN'])],
    ['the nonce is raised', ({ engine }) => engine.raiseNonce(alice, 'raise 1')],
    ['its funds are spent', ({ place, buy }) => place(buy(alice, YES, '20300', '0.49'))],
    ['its deadline is over', ({ clock, now }) => clock(now() + 2_000)],
  ])('the rest is cancelled when %s', async (_, change) => {
    const w = await begun('100', { deadlineMs: 1_800_000_001_500 });
    await change(w);
    expect(await w.result()).toBe('CANCELLED MATCH_LIMIT 3 of 100');
    expect(await w.differences()).toEqual([]);
  });
});
