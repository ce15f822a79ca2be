import { alice, bob, NO, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

describe('a cancel', () => {
  test('removes the rest of an order from the book and releases its reserve', async () => {
    const w = world();
    await w.market();
    const order = w.buy(alice, YES, '10', '0.60');
    await w.place(order);
    await w.place(w.buy(bob, NO, '4', '0.40'));
    const reply = await w.engine.cancel('market00', alice, order.orderHash, 'USER');
    expect(reply).toMatchObject({
      cancelled: true,
      sequence: 4,
      record: { status: 'CANCELLED', reason: 'USER', filledLots: 400, sizeLots: 1000, sequence: 2 },
    });
    expect(await w.balance(alice)).toEqual({ cash: '9997.6 (0)', yes: '4 (0)', no: '0 (0)' });
    expect(await w.book()).toMatchObject({ bids: [], liquidity: '0', sequence: 4 });
  });

  test('of a cancelled or filled order changes nothing', async () => {
    const w = world();
    await w.market();
    const [order, filled] = [w.buy(alice, YES, '1', '0.60'), w.buy(alice, YES, '1', '0.61')];
    for (const each of [order, filled]) await w.place(each);
    await w.place(w.buy(bob, NO, '1', '0.39'));
    await w.engine.cancel('market00', alice, order.orderHash, 'USER');
    const before = await w.book();
    const again = await w.engine.cancel('market00', alice, order.orderHash, 'DISCONNECT');
    expect(again).toMatchObject({ cancelled: false, sequence: before.sequence, record: { reason: 'USER' } });
    const late = await w.engine.cancel(null, alice, filled.orderHash, 'USER');
    expect(late).toMatchObject({ cancelled: false, record: { status: 'FILLED', reason: null } });
    expect(await w.book()).toEqual(before);
  });

  test('works for the wallet’s own orders only, in their market or in any', async () => {
    const w = world();
    const [first, second] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    const order = w.buy(alice, YES, '1', '0.60', { market: first });
    await w.place(order);
    for (const [id, who, hash] of [
      [first, bob, order.orderHash],
      [second, alice, order.orderHash],
      [null, alice, `0x${'0'.repeat(64)}`],
    ] as const) {
      await expect(w.engine.cancel(id, who, hash, 'USER')).rejects.toMatchObject({ code: 'ORDER_NOT_FOUND' });
    }
    expect((await w.book(first)).bids).toEqual(['0.6 1 1']);
    expect((await w.engine.cancel(null, alice, order.orderHash, 'USER')).cancelled).toBe(true);
  });

  test('a cancel of many orders is one command, and distinguishes unknown, foreign, final and repeated orders', async () => {
    const w = world();
    await w.market();
    const mine = [
      w.buy(alice, YES, '1', '0.60'),
      w.buy(alice, NO, '1', '0.30'),
      w.buy(alice, YES, '1', '0.59'),
    ];
    const theirs = w.buy(bob, YES, '1', '0.10');
    for (const order of [...mine, theirs]) await w.place(order);
    const [first, second, third] = mine.map((order) => order.orderHash) as [string, string, string];
    await w.engine.cancel(null, alice, third, 'USER');
    const unknown = `0x${'f'.repeat(64)}`;
    const wanted = [first, unknown, theirs.orderHash, third, second, first];
    const { results, sequence } = await w.engine.cancelMany('market00', alice, wanted, 'CANCEL_ALL');
    expect(results.map(({ record, cancelled }) => `${record?.status ?? '-'} ${cancelled}`)).toEqual([
      ...['CANCELLED true', '- false', '- false', 'CANCELLED false', 'CANCELLED true', 'CANCELLED true'],
    ]);
    expect(sequence).toBe(7);
    expect(await w.book()).toMatchObject({ bids: ['0.1 1 1'], asks: [], sequence: 7 });
    const none = await w.engine.cancelMany('market00', alice, wanted, 'CANCEL_ALL');
    expect(none.sequence).toBe(7);
    expect((await w.outbox()).at(-1)).toMatchObject({ kind: 'CANCEL', sequence: 7 });
  });

  test('of an empty list changes nothing', async () => {
    const w = world();
    await w.market();
    expect(await w.engine.cancelMany('market00', alice, [], 'CANCEL_ALL')).toEqual({
      results: [],
      sequence: 1,
    });
  });

  test('of a thousand orders is one command', async () => {
    const w = world();
    await w.market();
    const orders = Array.from({ length: 1000 }, () => w.buy(alice, YES, '0.01', '0.60'));
    for (const order of orders) await w.place(order);
    const hashes = orders.map((order) => order.orderHash);
    const { results } = await w.engine.cancelMany('market00', alice, hashes, 'CANCEL_ALL');
    expect(results.every(({ cancelled }) => cancelled)).toBe(true);
    expect(await w.book()).toMatchObject({ bids: [], liquidity: '0', sequence: 1002 });
    expect((await w.balance(alice)).cash).toBe('10000 (0)');
  });
});

describe('a market’s life', () => {
  test('allows only cancels while PAUSED', async () => {
    const w = world();
    await w.market();
    const order = w.buy(alice, YES, '1', '0.60');
    await w.place(order);
    await w.engine.moveMarket('market00', 'PAUSED', ['OPEN']);
    await expect(w.place(w.buy(bob, NO, '1', '0.40'))).rejects.toMatchObject({
      code: 'MARKET_NOT_OPEN',
      message: 'the market is PAUSED',
    });
    await expect(w.split(bob, '1')).rejects.toMatchObject({ code: 'MARKET_NOT_OPEN' });
    expect(await w.engine.clearBook('market00')).toEqual({ cancelled: 0, left: false });
    expect((await w.engine.cancel(null, alice, order.orderHash, 'USER')).cancelled).toBe(true);
    await w.engine.moveMarket('market00', 'OPEN', ['PAUSED']);
    expect(told(await w.place(w.buy(bob, NO, '1', '0.40'))).result).toBe('OPEN 0 of 1');
  });

  test('moves only from the allowed statuses, and a repetition changes nothing', async () => {
    const w = world();
    await w.market();
    await w.engine.moveMarket('market00', 'CLOSED', ['OPEN', 'PAUSED']);
    await w.engine.moveMarket('market00', 'CLOSED', ['OPEN', 'PAUSED']);
    expect((await w.book()).sequence).toBe(2);
    await expect(w.engine.moveMarket('market00', 'OPEN', ['PAUSED'])).rejects.toMatchObject({
      code: 'MARKET_NOT_OPEN',
    });
    await expect(w.engine.moveMarket('nowhere0', 'OPEN', ['PAUSED'])).rejects.toMatchObject({
      code: 'MARKET_NOT_FOUND',
    });
  });

  test('clears the book of a closed market a bounded number at a time, and releases every reserve', async () => {
    const w = world();
    await w.market();
    const orders = [
      ...Array.from({ length: 3 }, () => w.buy(alice, YES, '1', '0.50')),
      ...Array.from({ length: 4 }, () => w.buy(bob, NO, '1', '0.40')),
    ];
    for (const order of orders) await w.place(order);
    await w.engine.moveMarket('market00', 'CLOSED', ['OPEN']);
    const steps = [];
    for (let i = 0; i < 4; i++) steps.push(await w.engine.clearBook('market00', 3));
    expect(steps.map(({ cancelled }) => cancelled)).toEqual([3, 3, 1, 0]);
    expect(steps.at(-1)).toEqual({ cancelled: 0, left: false });
    expect(await w.book()).toMatchObject({ bids: [], asks: [], liquidity: '0' });
    for (const who of [alice, bob]) expect((await w.balance(who)).cash).toBe('10000 (0)');
    expect(await w.stored(orders[0] as never)).toMatchObject({
      status: 'CANCELLED',
      reason: 'MARKET_CLOSED',
    });
  });
});

describe('the mode of the exchange', () => {
  test.each([
    ['1', 'CANCEL_ONLY'],
    ['2', 'HALTED'],
  ])('%s, set before the market began, is %s', async (mode, code) => {
    const w = world();
    await w.redis.set(`${w.keys.prefix}mode`, mode);
    await w.market();
    await expect(w.place(w.buy(alice, YES, '1', '0.60'))).rejects.toMatchObject({ code });
    await expect(w.split(alice, '1')).rejects.toMatchObject({ code });
    const cancel = w.engine.cancelMany('market00', alice, [`0x${'0'.repeat(64)}`], 'USER');
    if (mode === '2') await expect(cancel).rejects.toMatchObject({ code });
    else expect((await cancel).results).toEqual([{ record: null, cancelled: false }]);
  });
});
