import { micro } from '../../../src/exchange/units';
import { alice, bob, NO, parseMicro, START_SECOND, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

describe('an order sent again', () => {
  test('returns its present record, and executes once', async () => {
    const w = world();
    await w.market();
    const order = w.buy(alice, YES, '10', '0.60', { clientOrderId: 'mine' });
    const first = await w.place(order);
    expect(first.replayed).toBe(false);
    await w.place(w.buy(bob, NO, '4', '0.40'));
    const before = await w.book();
    const again = await w.place(order);
    expect(again).toMatchObject({
      replayed: true,
      fills: [],
      record: { status: 'PARTIALLY_FILLED', filledLots: 400 },
    });
    expect(again.record).toMatchObject({ sequence: first.record.sequence, clientOrderId: 'mine' });
    expect(await w.book()).toEqual(before);
    expect((await w.balance(alice)).cash).toBe('9994 (3.6)');
  });

  test('is recognised before any refusal', async () => {
    const w = world();
    await w.market();
    const everything = w.buy(alice, YES, '10000', '0.99', { expires: START_SECOND + 5 });
    const cash = w.buy(alice, NO, '100', '0.5', { deadlineMs: START_SECOND * 1000 + 1 });
    await w.place(everything);
    await w.place(cash);
    const poor = w.buy(alice, NO, '1000', '0.5');
    await expect(w.place(poor)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    await w.clock((START_SECOND + 60) * 1000);
    await w.engine.moveMarket('market00', 'PAUSED', ['OPEN']);
    for (const order of [everything, cash]) expect((await w.place(order)).replayed).toBe(true);
    expect((await w.place({ ...cash, nonce: 7 })).replayed).toBe(true);
    await expect(w.place(poor)).rejects.toMatchObject({ code: 'MARKET_NOT_OPEN' });
  });

  test('with another type is still the stored order: a POST_ONLY that would cross, a FOK that cannot fill', async () => {
    const w = world();
    await w.market();
    const order = w.buy(alice, YES, '10', '0.60');
    await w.place(order);
    await w.place(w.buy(bob, NO, '50', '0.40'));
    for (const orderType of ['POST_ONLY', 'FOK', 'IOC'] as const) {
      const { replayed, record } = await w.place({ ...order, orderType });
      expect({ replayed, type: record.orderType, status: record.status }).toEqual({
        replayed: true,
        type: 'GTC',
        status: 'FILLED',
      });
    }
  });

  test('a refused one may be sent again: it was never booked', async () => {
    const w = world();
    await w.market();
    const order = w.buy(alice, YES, '10', '0.60', { type: 'FOK' });
    await expect(w.place(order)).rejects.toMatchObject({ code: 'FOK_NOT_FILLED', extra: { available: '0' } });
    await w.place(w.buy(bob, NO, '10', '0.40'));
    expect(told(await w.place(order)).result).toBe('FILLED 10 of 10');
    expect((await w.place(order)).replayed).toBe(true);
  });

  test('changes nothing, even while more than 200 stale makers are in its way', async () => {
    const w = world();
    await w.market();
    const ioc = w.buy(alice, YES, '1', '0.50', { type: 'IOC' });
    await w.place(ioc);
    for (let i = 0; i < 201; i++) await w.place(w.buy(bob, NO, '1', '0.50', { expires: START_SECOND + 5 }));
    await w.clock((START_SECOND + 5) * 1000);
    const before = await w.book();
    expect((await w.place(ioc)).record.status).toBe('CANCELLED');
    expect(await w.book()).toEqual(before);
  });
});

describe('a dry run', () => {
  test('answers as the order would and leaves no trace', async () => {
    const w = world();
    await w.market();
    await w.place(w.buy(bob, NO, '10', '0.45', { expires: START_SECOND + 5 }));
    await w.place(w.buy(bob, NO, '10', '0.44'));
    await w.clock((START_SECOND + 5) * 1000);
    const [book, news] = [await w.book(), (await w.outbox()).length];
    const order = w.buy(alice, YES, '15', '0.60');
    const trial = await w.place({ ...order, dryRun: true });
    expect(told(trial)).toEqual({ result: 'PARTIALLY_FILLED 10 of 15', fills: ['10 @ 0.56 MINT'] });
    expect(await w.book()).toEqual(book);
    expect(await w.outbox()).toHaveLength(news);
    expect(await w.stored(order)).toBeNull();
    expect((await w.state()).money.cash.has(alice)).toBe(false);
    const real = await w.place(order);
    expect({ ...told(real), sequence: real.record.sequence }).toEqual({
      ...told(trial),
      sequence: trial.record.sequence,
    });
  });

  test('has the same refusals', async () => {
    const w = world();
    await w.market();
    const fok = w.buy(alice, YES, '1', '0.60', { type: 'FOK', dryRun: true });
    await expect(w.place(fok)).rejects.toMatchObject({ code: 'FOK_NOT_FILLED' });
    const poor = w.buy(alice, YES, '100000', '0.60', { dryRun: true });
    await expect(w.place(poor)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
  });

  test('of a booked order returns that order', async () => {
    const w = world();
    await w.market();
    const order = w.buy(alice, YES, '1', '0.60');
    await w.place(order);
    expect((await w.place({ ...order, dryRun: true })).replayed).toBe(true);
  });
});

describe('refusals come in the order that docs/use/interface.md states', () => {
  test('nonce, expiry, market, deadline and funds are checked in turn, then the book', async () => {
    const w = world();
    await w.market();
    await w.place(w.buy(bob, NO, '1', '0.50'));
    await w.engine.moveMarket('market00', 'PAUSED', ['OPEN']);
    const wrong = {
      ...w.buy(alice, YES, '1000000', '0.60', { type: 'FOK', nonce: 1, expires: START_SECOND }),
      deadlineMs: START_SECOND * 1000,
    };
    await expect(w.place(wrong)).rejects.toMatchObject({
      code: 'INVALID_NONCE_VALUE',
      extra: { current: '0' },
    });
    const late = { ...wrong, nonce: 0 };
    await expect(w.place(late)).rejects.toMatchObject({ code: 'ORDER_EXPIRED' });
    const paused = { ...late, expirationSec: START_SECOND + 1 };
    await expect(w.place(paused)).rejects.toMatchObject({ code: 'MARKET_NOT_OPEN' });
    await w.engine.moveMarket('market00', 'OPEN', ['PAUSED']);
    await expect(w.place(paused)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const poor = { ...paused, deadlineMs: START_SECOND * 1000 + 1 };
    await expect(w.place(poor)).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      extra: { required: '600000', available: '10000', asset: 'COLLATERAL' },
    });
    const elsewhere = { ...wrong, marketId: 'nowhere0' };
    await expect(w.place(elsewhere)).rejects.toMatchObject({ code: 'MARKET_NOT_FOUND' });
    const tokens = w.sell(alice, NO, '1', '0.50');
    await expect(w.place(tokens)).rejects.toMatchObject({
      extra: { required: '1', available: '0', asset: 'NO' },
    });
  });

  test('exactly the needed amount is enough, and a micro-unit less is refused', async () => {
    const w = world();
    await w.market();
    await w.engine.convert('market00', alice, parseMicro('9999.4'), 'leave 0.6');
    const order = w.buy(alice, YES, '1', '0.60');
    await expect(w.place({ ...w.buy(alice, YES, '1', '0.61') })).rejects.toMatchObject({
      extra: { required: '0.61', available: '0.6' },
    });
    expect((await w.place(order)).record.status).toBe('OPEN');
    expect((await w.balance(alice)).cash).toBe('0 (0.6)');
  });
});

describe('splits and merges', () => {
  test('move collateral and both tokens, once for each operation id', async () => {
    const w = world();
    await w.market();
    const split = (sets: string) => w.engine.convert('market00', alice, parseMicro(sets), 'one');
    expect([await split('10.000001'), await split('10.000001')]).toEqual([false, true]);
    await expect(split('10')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await w.balance(alice)).toEqual({
      cash: '9989.999999 (0)',
      yes: '10.000001 (0)',
      no: '10.000001 (0)',
    });
    await w.engine.convert('market00', alice, micro(-4_000_000), 'two');
    await w.engine.convert('market00', alice, micro(-4_000_000), 'two');
    expect((await w.balance(alice)).yes).toBe('6.000001 (0)');
  });

  test('need the funds they take', async () => {
    const w = world();
    await w.market();
    const convert = (sets: number, name: string) =>
      w.engine.convert('market00', alice, micro(sets * 1e6), name);
    await expect(convert(10_001, 'a')).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      extra: { required: '10001', available: '10000', asset: 'COLLATERAL' },
    });
    await convert(10, 'b');
    await w.place(w.sell(alice, NO, '7', '0.9'));
    await expect(convert(-4, 'c')).rejects.toMatchObject({
      extra: { required: '4', available: '3', asset: 'NO' },
    });
    await convert(-3, 'd');
    expect(await w.balance(alice)).toEqual({ cash: '9993 (0)', yes: '7 (0)', no: '0 (7)' });
    expect((await w.book()).openInterest).toBe('7');
  });
});

test('a script that Redis has forgotten is sent again', async () => {
  const w = world();
  await w.market();
  const order = w.buy(alice, YES, '1', '0.60');
  await w.place(order);
  for (const master of w.masters) await master.script('FLUSH');
  expect((await w.place(order)).replayed).toBe(true);
  expect((await w.engine.cancel(null, alice, order.orderHash, 'USER')).cancelled).toBe(true);
});
