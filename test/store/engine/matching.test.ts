import { formatLots, formatPips } from '../../../src/exchange/units';
import { alice, bob, carla, NO, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

describe('the unified Yes book', () => {
  test('matches COMPLEMENTARY, and the taker gets the price improvement', async () => {
    const { market, split, place, buy, sell, balance } = world();
    await market();
    await split(bob, '100');
    expect(told(await place(sell(bob, YES, '100', '0.55'))).result).toBe('OPEN 0 of 100');
    expect(await balance(bob)).toEqual({ cash: '9900 (0)', yes: '0 (100)', no: '100 (0)' });
    expect(told(await place(buy(alice, YES, '100', '0.60')))).toEqual({
      result: 'FILLED 100 of 100',
      fills: ['100 @ 0.55 COMPLEMENTARY'],
    });
    expect(await balance(alice)).toEqual({ cash: '9945 (0)', yes: '100 (0)', no: '0 (0)' });
    expect(await balance(bob)).toEqual({ cash: '9955 (0)', yes: '0 (0)', no: '100 (0)' });
  });

  test('matches two buyers as MINT, who pay for a new set, and open interest rises', async () => {
    const { market, place, buy, balance, book } = world();
    await market();
    await place(buy(bob, NO, '100', '0.45'));
    expect((await book()).asks).toEqual(['0.55 100 1']);
    const reply = await place(buy(alice, YES, '100', '0.60'));
    expect(told(reply).fills).toEqual(['100 @ 0.55 MINT']);
    expect(await balance(alice)).toEqual({ cash: '9945 (0)', yes: '100 (0)', no: '0 (0)' });
    expect(await balance(bob)).toEqual({ cash: '9955 (0)', yes: '0 (0)', no: '100 (0)' });
    expect(await book()).toMatchObject({ asks: [], openInterest: '100', last: '0.55', volume: '55' });
  });

  test('matches two sellers as MERGE, who give up a set, and open interest falls', async () => {
    const { market, split, place, sell, balance, book } = world();
    await market();
    await split(alice, '100');
    await split(bob, '60');
    await place(sell(bob, NO, '60', '0.55'));
    expect((await book()).bids).toEqual(['0.45 60 1']);
    const reply = await place(sell(alice, YES, '100', '0.40'));
    expect(told(reply)).toEqual({ result: 'PARTIALLY_FILLED 60 of 100', fills: ['60 @ 0.45 MERGE'] });
    expect(await balance(alice)).toEqual({ cash: '9927 (0)', yes: '0 (40)', no: '100 (0)' });
    expect(await balance(bob)).toEqual({ cash: '9973 (0)', yes: '60 (0)', no: '0 (0)' });
    expect(await book()).toMatchObject({
      bids: [],
      asks: ['0.4 40 1'],
      openInterest: '100',
      liquidity: '16',
    });
  });

  test('shows a taker of No the prices of No', async () => {
    const { market, place, buy, book } = world();
    await market();
    await place(buy(bob, YES, '10', '0.70'));
    const reply = await place(buy(alice, NO, '10', '0.35'));
    expect(told(reply).fills).toEqual(['10 @ 0.3 MINT']);
    expect((await book()).last).toBe('0.7');
  });

  test('matches the best price first, then the oldest, whatever the token', async () => {
    const { market, split, place, buy, sell } = world();
    await market();
    await split(carla, '100');
    const late = sell(carla, YES, '10', '0.55');
    const older = buy(bob, NO, '10', '0.45');
    const best = sell(carla, YES, '10', '0.54');
    for (const maker of [older, late, best]) await place(maker);
    const { fills } = await place(buy(alice, YES, '25', '0.60'));
    expect(fills.map((f) => f.makerHash)).toEqual([best, older, late].map((m) => m.orderHash));
    expect(fills.map((f) => [formatLots(f.sizeLots), formatPips(f.pricePips)])).toEqual([
      ['10', '0.54'],
      ['10', '0.55'],
      ['5', '0.55'],
    ]);
  });

  test('is separate for each market, while collateral is shared', async () => {
    const { market, place, buy, book, balance } = world();
    const [first, second] = [await market({ id: 'market01' }), await market({ id: 'market02' })];
    await place(buy(bob, NO, '10', '0.50', { market: first }));
    expect(told(await place(buy(alice, YES, '10', '0.50', { market: second }))).result).toBe('OPEN 0 of 10');
    await place(buy(bob, YES, '10', '0.40', { market: second }));
    expect((await book(first)).asks).toEqual(['0.5 10 1']);
    expect((await book(second)).bids).toEqual(['0.5 10 1', '0.4 10 1']);
    expect((await balance(bob)).cash).toBe('9991 (9)');
  });
});
