import { alice, bob, carla, NO, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

/** Bob offers 10 Yes at 0.50, carla 20 at 0.55. */
async function offers() {
  const w = world();
  await w.market();
  await w.split(bob, '100');
  await w.split(carla, '100');
  await w.place(w.sell(bob, YES, '10', '0.50'));
  await w.place(w.sell(carla, YES, '20', '0.55'));
  return w;
}

describe('GTC, IOC, FOK, POST_ONLY', () => {
  test('GTC rests its remainder at its own limit and reserves only for that', async () => {
    const { place, buy, book, balance } = await offers();
    expect(told(await place(buy(alice, YES, '15', '0.50'))).result).toBe('PARTIALLY_FILLED 10 of 15');
    expect((await book()).bids).toEqual(['0.5 5 1']);
    expect(await balance(alice)).toEqual({ cash: '9992.5 (2.5)', yes: '10 (0)', no: '0 (0)' });
  });

  test('IOC cancels its remainder, even all of it', async () => {
    const { place, buy, balance, book } = await offers();
    const some = await place(buy(alice, YES, '15', '0.50', { type: 'IOC' }));
    expect(told(some).result).toBe('CANCELLED IOC_REMAINDER 10 of 15');
    const none = await place(buy(alice, YES, '15', '0.50', { type: 'IOC' }));
    expect(told(none)).toEqual({ result: 'CANCELLED IOC_REMAINDER 0 of 15', fills: [] });
    expect((await balance(alice)).cash).toBe('9995 (0)');
    expect((await book()).bids).toEqual([]);
  });

  test('FOK fills completely or leaves no trace', async () => {
    const { place, buy, book, stored } = await offers();
    const before = await book();
    const tooMuch = buy(alice, YES, '30.01', '0.60', { type: 'FOK' });
    await expect(place(tooMuch)).rejects.toMatchObject({
      code: 'FOK_NOT_FILLED',
      extra: { available: '30' },
    });
    const tooDear = buy(alice, YES, '11', '0.54', { type: 'FOK' });
    await expect(place(tooDear)).rejects.toMatchObject({
      code: 'FOK_NOT_FILLED',
      extra: { available: '10' },
    });
    expect(await book()).toEqual(before);
    expect(await stored(tooMuch)).toBeNull();
    const all = await place(buy(alice, YES, '30', '0.60', { type: 'FOK' }));
    expect(told(all).fills).toEqual(['10 @ 0.5 COMPLEMENTARY', '20 @ 0.55 COMPLEMENTARY']);
  });

  test('POST_ONLY rests, or is refused with the best price in its own token', async () => {
    const { place, buy, sell, book } = await offers();
    const crossing = buy(alice, YES, '1', '0.50', { type: 'POST_ONLY' });
    await expect(place(crossing)).rejects.toMatchObject({
      code: 'POST_ONLY_WOULD_CROSS',
      extra: { best: '0.5' },
    });
    // SELL No at 0.45 is a bid at 0.55: it would merge with bob's Yes at 0.50, which is 0.50 for No.
    const through = sell(bob, NO, '1', '0.45', { type: 'POST_ONLY' });
    await expect(place(through)).rejects.toMatchObject({
      code: 'POST_ONLY_WOULD_CROSS',
      extra: { best: '0.5' },
    });
    expect(told(await place(buy(alice, YES, '1', '0.49', { type: 'POST_ONLY' }))).result).toBe('OPEN 0 of 1');
    expect((await book()).bids).toEqual(['0.49 1 1']);
  });
});

describe('MARKET', () => {
  const market = { type: 'MARKET' } as const;

  test('BUY spends its budget on whole lots and keeps the rest', async () => {
    const { place, buy, balance } = await offers();
    const reply = await place(buy(alice, YES, '16.66', '0.99', { ...market, budget: '10' }));
    expect(told(reply)).toEqual({
      result: 'FILLED 19.09 of 19.09',
      fills: ['10 @ 0.5 COMPLEMENTARY', '9.09 @ 0.55 COMPLEMENTARY'],
    });
    expect(await balance(alice)).toEqual({ cash: '9990.0005 (0)', yes: '19.09 (0)', no: '0 (0)' });
  });

  test('BUY that gets less than its minimum is cancelled and keeps what it bought', async () => {
    const { place, buy, balance } = await offers();
    const reply = await place(buy(alice, YES, '20', '0.99', { ...market, budget: '10' }));
    expect(told(reply).result).toBe('CANCELLED MARKET_REMAINDER 19.09 of 20');
    expect((await balance(alice)).cash).toBe('9990.0005 (0)');
    const dear = await place(buy(alice, YES, '1', '0.54', { ...market, budget: '10' }));
    expect(told(dear)).toEqual({ result: 'CANCELLED MARKET_REMAINDER 0 of 1', fills: [] });
  });

  test('BUY with a budget below one lot buys nothing, not even from its own order', async () => {
    const { place, buy, book } = await offers();
    const tiny = { ...market, budget: '0.004999', prevention: 'CANCEL_BOTH' } as const;
    expect(told(await place(buy(bob, YES, '0.01', '0.99', tiny))).result).toBe(
      'CANCELLED MARKET_REMAINDER 0 of 0.01',
    );
    expect((await book()).asks).toEqual(['0.5 10 1', '0.55 20 1']);
  });

  test('BUY with lots of 1 share takes whole shares', async () => {
    const w = world();
    await w.market({ lotSize: '1' });
    await w.split(bob, '10');
    await w.place(w.sell(bob, YES, '10', '0.30'));
    const reply = await w.place(w.buy(alice, YES, '1', '0.99', { ...market, budget: '1' }));
    expect(told(reply).fills).toEqual(['3 @ 0.3 COMPLEMENTARY']);
    expect((await w.balance(alice)).cash).toBe('9999.1 (0)');
  });

  test('BUY needs its whole budget free, whatever it will spend', async () => {
    const { place, buy } = await offers();
    const rich = buy(alice, YES, '1', '0.99', { ...market, budget: '10000.000001' });
    await expect(place(rich)).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      extra: { required: '10000.000001', available: '10000', asset: 'COLLATERAL' },
    });
    const all = await place(buy(alice, YES, '1', '0.99', { ...market, budget: '10000' }));
    expect(told(all).result).toBe('FILLED 30 of 30');
  });

  test('SELL meets the present orders and cancels the rest, and limit 0 means no limit', async () => {
    const w = world();
    await w.market();
    await w.split(alice, '10');
    await w.place(w.buy(bob, YES, '4', '0.02'));
    const dear = await w.place(w.sell(alice, YES, '10', '0.03', market));
    expect(told(dear).result).toBe('CANCELLED MARKET_REMAINDER 0 of 10');
    const any = await w.place(w.sell(alice, YES, '10', '0', market));
    expect(told(any)).toEqual({
      result: 'CANCELLED MARKET_REMAINDER 4 of 10',
      fills: ['4 @ 0.02 COMPLEMENTARY'],
    });
    expect(await w.balance(alice)).toEqual({ cash: '9990.08 (0)', yes: '6 (0)', no: '10 (0)' });
  });
});
