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

test('a BUY pays in tokens at its own limit, a SELL in collateral: 2 % x min(p, 1 - p)', async () => {
  const { place, buy, sell, balance } = await open();
  await place(sell(bob, YES, '100', '0.55'));
  const reply = await place(buy(alice, YES, '100', '0.60'));
  // Taker: 0.02 x 0.40 x 100 / 0.60 = 1.333333 Yes. Maker: 0.02 x 0.45 x 100 = 0.9.
  expect(fees(reply)).toEqual(['1.333333/0.9']);
  expect(await balance(alice)).toEqual({ cash: '9945 (0)', yes: '98.666667 (0)', no: '0 (0)' });
  expect((await balance(bob)).cash).toBe('9054.1 (0)');
  expect(await balance('fee')).toEqual({ cash: '0.9 (0)', yes: '1.333333 (0)', no: '0 (0)' });
});

test('in a MINT both pay in their own token', async () => {
  const { place, buy, balance } = await open();
  await place(buy(bob, NO, '100', '0.45'));
  // Maker at 0.45: 0.02 x 0.45 x 100 / 0.45 = 2 No.
  expect(fees(await place(buy(alice, YES, '100', '0.60')))).toEqual(['1.333333/2']);
  expect(await balance('fee')).toEqual({ cash: '0 (0)', yes: '1.333333 (0)', no: '2 (0)' });
});

test('a SELL taker pays on the average of its proceeds, shared by its fills', async () => {
  const { place, buy, sell } = await open();
  await place(buy(alice, YES, '10', '0.70'));
  await place(buy(alice, YES, '30', '0.40'));
  // 19 for 40 shares, 0.475 each: 0.02 x 0.475 x 40 = 0.38, of which 10/40 and 30/40.
  expect(fees(await place(sell(bob, YES, '40', '0.30')))).toEqual(['0.095/0.085714', '0.285/0.6']);
});

test('a MARKET BUY pays on the average it paid, never below zero for a fill', async () => {
  const { place, buy, sell } = await open();
  await place(sell(bob, YES, '100', '0.51'));
  await place(sell(carla, YES, '100', '0.99'));
  // 150 for 200 shares, 0.75 each: 0.02 x 0.25 x 200 / 0.75 = 1.333333, half each.
  const reply = await place(buy(alice, YES, '200', '0.99', { type: 'MARKET', budget: '150' }));
  expect(fees(reply)).toEqual(['0.666666/0.98', '0.666667/0.02']);
});

test('the taker pays for each settlement record of 50 makers as a whole', async () => {
  const { place, buy, sell } = await open();
  for (let i = 0; i < 51; i++) await place(sell(bob, YES, '0.01', '0.30'));
  // 50 x 0.01 at 0.31: 0.02 x 0.5 = 0.01 Yes; the 51st alone 0.0002.
  const { fills } = await place(buy(alice, YES, '0.51', '0.31'));
  const total = (from: number, to: number): string =>
    formatMicro(fills.slice(from, to).reduce((sum, f) => sum + f.takerFeeMicro, 0));
  expect([total(0, 50), total(50, 51)]).toEqual(['0.01', '0.0002']);
});

test('fees are floored to the micro-unit', async () => {
  const { place, buy, sell } = await open();
  await place(sell(bob, YES, '0.01', '0.33'));
  // Taker: 0.02 x 0.33 x 0.01 / 0.67 = 0.0000985; maker: 0.02 x 0.33 x 0.01 = 0.000066.
  expect(fees(await place(buy(alice, YES, '0.01', '0.67')))).toEqual(['0.000098/0.000066']);
});
