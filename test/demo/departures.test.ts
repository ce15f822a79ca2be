import { createDepartures } from '../../src/demo/departures';

test('shares that a merge takes are not free before balances of the fifth block after it', () => {
  const departures = createDepartures();
  const merge = { marketId: 'm1', tokens: 43, cash: 0 };
  departures.add(merge);
  departures.seen(1_000);
  expect([departures.tokens('m1'), departures.tokens('m2'), departures.has('m1')]).toEqual([43, 0, true]);
  departures.settle(merge, 1_000);
  departures.seen(1_004);
  expect(departures.tokens('m1')).toBe(43);
  departures.seen(1_005);
  expect([departures.tokens('m1'), departures.has('m1')]).toEqual([0, false]);
});

test('a split takes money, and one that was not sent takes none', () => {
  const departures = createDepartures();
  const split = { marketId: 'm1', tokens: 0, cash: 100 };
  departures.add(split);
  departures.add({ marketId: 'm2', tokens: 0, cash: 20 });
  expect(departures.cash()).toBe(120);
  departures.drop(split);
  expect([departures.cash(), departures.has('m1')]).toEqual([20, false]);
});
