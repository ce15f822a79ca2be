import { formatMicro } from '../../../src/exchange/units';
import type { PlaceReply } from '../../../src/store/verbs/place';
import { alice, bob, carla, NO, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

/** 'taker/maker' of each fill. */
const fees = ({ fills }: PlaceReply): string[] =>
  fills.map((f) => `${formatMicro(f.takerFeeMicro)}/${formatMicro(f.makerFeeMicro)}`);

/** A market of 2 %, in which bob and carla hold 1000 sets. */
async function open() {
  const w = world();
  await w.market({ feeRateBps: 200 });
  for (const who of [bob, carla]) await w.split(who, '1000');
  return w;
}

test('a BUY pays in tokens, a SELL in collateral, both at the price of the fill: 2 % x min(p, 1 - p)', async () => {
  const { place, buy, sell, balance } = await open();
  await place(sell(bob, YES, '100', '0.55'));
  const reply = await place(buy(alice, YES, '100', '0.60'));
  // Taker: 0.02 x 0.45 x 100 / 0.55 = 1.636363 Yes. Maker: 0.02 x 0.45 x 100 = 0.9.
  expect(fees(reply)).toEqual(['1.636363/0.9']);
  expect(await balance(alice)).toEqual({ cash: '9945 (0)', yes: '98.363637 (0)', no: '0 (0)' });
  expect((await balance(bob)).cash).toBe('9054.1 (0)');
  expect(await balance('fee')).toEqual({ cash: '0.9 (0)', yes: '1.636363 (0)', no: '0 (0)' });
});

test.each(['IOC', 'GTC', 'FOK', 'MARKET'] as const)(
  'a BUY by %s pays the same fee whatever its limit is',
  async (type) => {
    const { place, buy, sell } = await open();
    const found: string[] = [];
    for (const limit of ['0.62', '0.63', '0.95', '0.99']) {
      await place(sell(bob, YES, '10', '0.62'));
      const budget = type === 'MARKET' ? { budget: '6.2' } : {};
      found.push(...fees(await place(buy(alice, YES, '10', limit, { type, ...budget }))));
    }
    // 0.02 x 0.38 x 10 / 0.62 = 0.122580.
    expect(found).toEqual(Array(4).fill('0.12258/0.076'));
  },
);

test('a replacement pays the fee of its fill, too', async () => {
  const { place, buy, sell, engine } = await open();
  const old = await place(buy(alice, YES, '10', '0.10'));
  await place(sell(bob, YES, '10', '0.62'));
  const reply = await engine.replace(buy(alice, YES, '10', '0.95'), old.record.orderHash);
  expect(fees(reply)).toEqual(['0.12258/0.076']);
});

test('in a MINT both pay in their own token', async () => {
  const { place, buy, balance } = await open();
  await place(buy(bob, NO, '100', '0.45'));
  // Taker at 0.55: 0.02 x 0.45 x 100 / 0.55 = 1.636363 Yes. Maker at 0.45: 0.02 x 0.45 x 100 / 0.45 = 2 No.
  expect(fees(await place(buy(alice, YES, '100', '0.60')))).toEqual(['1.636363/2']);
  expect(await balance('fee')).toEqual({ cash: '0 (0)', yes: '1.636363 (0)', no: '2 (0)' });
});

test('in a MERGE both pay the same collateral', async () => {
  const { place, sell, balance } = await open();
  await place(sell(bob, NO, '100', '0.45'));
  // 0.02 x min(0.55, 0.45) x 100 on both sides.
  expect(fees(await place(sell(carla, YES, '100', '0.30')))).toEqual(['0.9/0.9']);
  expect((await balance('fee')).cash).toBe('1.8 (0)');
});

test('a taker pays for each fill by itself', async () => {
  const { place, buy, sell } = await open();
  await place(buy(alice, YES, '10', '0.70'));
  await place(buy(alice, YES, '30', '0.40'));
  // 0.02 x 0.30 x 10 = 0.06, and 0.02 x 0.40 x 30 = 0.24.
  expect(fees(await place(sell(bob, YES, '40', '0.30')))).toEqual(['0.06/0.085714', '0.24/0.6']);
});

test('a MARKET BUY pays for each fill by itself', async () => {
  const { place, buy, sell } = await open();
  await place(sell(bob, YES, '100', '0.51'));
  await place(sell(carla, YES, '100', '0.99'));
  // 0.02 x 0.49 x 100 / 0.51 = 1.921568, and 0.02 x 0.01 x 100 / 0.99 = 0.020202.
  const reply = await place(buy(alice, YES, '200', '0.99', { type: 'MARKET', budget: '150' }));
  expect(fees(reply)).toEqual(['1.921568/0.98', '0.020202/0.02']);
});

test('fees are rounded down to the micro-unit, for each fill by itself', async () => {
  const { place, buy, sell } = await open();
  await place(sell(bob, YES, '0.01', '0.67'));
  // Taker: 0.02 x 0.33 x 0.01 / 0.67 = 0.0000985; maker: 0.02 x 0.33 x 0.01 = 0.000066.
  expect(fees(await place(buy(alice, YES, '0.01', '0.67')))).toEqual(['0.000098/0.000066']);
  // Two fills of a lot: not 0.000197, the fee of both together.
  for (const who of [bob, carla]) await place(sell(who, YES, '0.01', '0.67'));
  expect(fees(await place(buy(alice, YES, '0.02', '0.67')))).toEqual(Array(2).fill('0.000098/0.000066'));
});
