import { alice, bob, carla, NO, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds({ makersMax: 3 });

describe('the bound on makers (here 3)', () => {
  /** `count` offers of bob, 1 share each at 0.50. */
  async function offers(count: number, expires = 0) {
    const w = world();
    await w.market();
    for (let i = 0; i < count; i++) await w.place(w.buy(bob, NO, '1', '0.50', { expires }));
    return w;
  }

  test('a taker that is full at the bound is FILLED', async () => {
    const { place, buy, book } = await offers(4);
    expect(told(await place(buy(alice, YES, '3', '0.50'))).result).toBe('FILLED 3 of 3');
    expect((await book()).asks).toEqual(['0.5 1 1']);
  });

  test('with no order left to cross, the remainder rests', async () => {
    const { place, buy, book } = await offers(3);
    expect(told(await place(buy(alice, YES, '5', '0.50'))).result).toBe('PARTIALLY_FILLED 3 of 5');
    expect((await book()).bids).toEqual(['0.5 2 1']);
  });

  test('a FOK beyond it is refused', async () => {
    const { place, buy, book } = await offers(4);
    const fok = buy(alice, YES, '4', '0.50', { type: 'FOK' });
    await expect(place(fok)).rejects.toMatchObject({ code: 'FOK_NOT_FILLED', extra: { available: '3' } });
    expect((await book()).asks).toEqual(['0.5 4 4']);
  });

  test('expired makers do not count, cancelled ones do', async () => {
    const w = await offers(5, 1_800_000_010);
    await w.clock(1_800_000_010_000);
    await w.place(w.buy(alice, NO, '1', '0.50'));
    for (let i = 0; i < 3; i++) await w.place(w.buy(carla, NO, '1', '0.50'));
    const fok = w.buy(alice, YES, '3', '0.50', { type: 'FOK', prevention: 'CANCEL_MAKER' });
    await expect(w.place(fok)).rejects.toMatchObject({ code: 'FOK_NOT_FILLED', extra: { available: '2' } });
    const reply = await w.place(w.buy(alice, YES, '2', '0.50', { prevention: 'CANCEL_MAKER' }));
    expect(told(reply)).toEqual({ result: 'FILLED 2 of 2', fills: ['1 @ 0.5 MINT', '1 @ 0.5 MINT'] });
    expect((await w.book()).asks).toEqual(['0.5 1 1']);
  });
});

describe('self-trade prevention', () => {
  /** Alice offers 1 Yes at 0.50 by buying No, bob 1 at 0.51, alice 1 at 0.52 by selling Yes. */
  async function own() {
    const w = world();
    await w.market();
    await w.split(alice, '10');
    const first = w.buy(alice, NO, '1', '0.50');
    await w.place(first);
    await w.place(w.buy(bob, NO, '1', '0.49'));
    const last = w.sell(alice, YES, '1', '0.52');
    await w.place(last);
    return { ...w, first, last };
  }

  test('NONE trades with itself, and the money comes back', async () => {
    const { place, buy, balance } = await own();
    const reply = await place(buy(alice, YES, '1', '0.50'));
    expect(told(reply).fills).toEqual(['1 @ 0.5 MINT']);
    expect(await balance(alice)).toEqual({ cash: '9989 (0)', yes: '10 (1)', no: '11 (0)' });
  });

  test('CANCEL_TAKER keeps earlier fills and leaves the maker', async () => {
    const { place, buy, sell, book, first } = await own();
    const none = await place(buy(alice, YES, '3', '0.60', { prevention: 'CANCEL_TAKER' }));
    expect(told(none)).toEqual({ result: 'CANCELLED SELF_TRADE 0 of 3', fills: [] });
    await world().engine.cancel(null, alice, first.orderHash, 'USER');
    const some = await place(buy(alice, YES, '3', '0.60', { prevention: 'CANCEL_TAKER' }));
    expect(told(some)).toEqual({ result: 'CANCELLED SELF_TRADE 1 of 3', fills: ['1 @ 0.51 MINT'] });
    expect((await book()).asks).toEqual(['0.52 1 1']);
    expect(told(await place(sell(bob, NO, '1', '0.60', { prevention: 'CANCEL_TAKER' }))).result).toBe(
      'OPEN 0 of 1',
    );
  });

  test('CANCEL_MAKER cancels its own orders that it meets, through either outcome, and continues', async () => {
    const { place, buy, book, stored, balance, first, last } = await own();
    const reply = await place(buy(alice, YES, '2', '0.60', { prevention: 'CANCEL_MAKER' }));
    expect(told(reply)).toEqual({ result: 'PARTIALLY_FILLED 1 of 2', fills: ['1 @ 0.51 MINT'] });
    for (const order of [first, last]) {
      expect(await stored(order)).toMatchObject({ status: 'CANCELLED', reason: 'SELF_TRADE', filledLots: 0 });
    }
    expect(await book()).toMatchObject({ bids: ['0.6 1 1'], asks: [] });
    expect(await balance(alice)).toEqual({ cash: '9988.89 (0.6)', yes: '11 (0)', no: '10 (0)' });
  });

  test('CANCEL_BOTH cancels both, and keeps earlier fills', async () => {
    const { place, buy, book, stored, first, last } = await own();
    const reply = await place(buy(alice, YES, '3', '0.60', { prevention: 'CANCEL_BOTH' }));
    expect(told(reply)).toEqual({ result: 'CANCELLED SELF_TRADE 0 of 3', fills: [] });
    expect(await stored(first)).toMatchObject({ status: 'CANCELLED', reason: 'SELF_TRADE' });
    const second = await place(buy(alice, YES, '3', '0.60', { prevention: 'CANCEL_BOTH' }));
    expect(told(second)).toEqual({ result: 'CANCELLED SELF_TRADE 1 of 3', fills: ['1 @ 0.51 MINT'] });
    expect(await stored(last)).toMatchObject({ status: 'CANCELLED', reason: 'SELF_TRADE' });
    expect((await book()).asks).toEqual([]);
  });

  test('a full order never reaches its own', async () => {
    const { place, buy, engine, first, stored, last } = await own();
    await engine.cancel(null, alice, first.orderHash, 'USER');
    const reply = await place(buy(alice, YES, '1', '0.60', { prevention: 'CANCEL_BOTH' }));
    expect(told(reply).result).toBe('FILLED 1 of 1');
    expect((await stored(last))?.status).toBe('OPEN');
  });

  test('a FOK is refused only if its own order stops it', async () => {
    const { place, buy, book } = await own();
    const before = await book();
    const stops = { type: 'FOK', prevention: 'CANCEL_TAKER' } as const;
    await expect(place(buy(alice, YES, '2', '0.60', stops))).rejects.toMatchObject({ code: 'SELF_TRADE' });
    const passes = { type: 'FOK', prevention: 'CANCEL_MAKER' } as const;
    await expect(place(buy(alice, YES, '2', '0.60', passes))).rejects.toMatchObject({
      code: 'FOK_NOT_FILLED',
      extra: { available: '1' },
    });
    expect(await book()).toEqual(before);
  });

  test('POST_ONLY would cross its own order, too', async () => {
    const { place, buy } = await own();
    const order = buy(alice, YES, '1', '0.50', { type: 'POST_ONLY', prevention: 'CANCEL_MAKER' });
    await expect(place(order)).rejects.toMatchObject({
      code: 'POST_ONLY_WOULD_CROSS',
      extra: { best: '0.5' },
    });
  });
});
