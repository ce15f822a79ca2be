import { createHistory } from '../../../../src/store/candles/history';
import { createCandleWriter } from '../../../../src/store/candles/writer';
import { decodeState } from '../../../../src/store/records/market';
import type { ChainBooks } from '../../../support/chain-books';
import { auditSound } from './fuzz-chores';
import { alice, bob, carla, withBooks } from './with-books';

/** The volume, the last price and the candles of a market whose matches may fail. */
const open = withBooks();

async function figures({ redis, run, keys, now }: ChainBooks) {
  const fields = await redis.hgetallBuffer(keys.market('market00'));
  const state = decodeState(Object.entries(fields).flatMap(([name, value]) => [Buffer.from(name), value]));
  const history = createHistory({ redis, run, keys, doubts: () => 0 });
  const [candles, day] = await Promise.all([
    history.candles('market00', Math.floor(now() / 60_000) * 60_000, 60_000),
    history.day('market00', state, now()),
  ]);
  const candle = candles.map(({ high, low, close, volumeMicro, trades }) => ({
    high,
    low,
    close,
    volumeMicro,
    trades,
  }));
  return { volume: state.volumeMicro, last: state.lastPips, candle, day: day.volumeMicro };
}

test('a match that fails leaves the volume, the last price and the candles, and one that is final stays', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting, redis, run, keys } = books;
  const writer = createCandleWriter({ redis, run, keys });
  await place(sell(alice, 0, '10', '0.50'));
  await place(buy(carla, 0, '10', '0.50'));
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  const both = { high: 6_000, low: 5_000, close: 6_000, volumeMicro: 11e6, trades: 2 };
  expect(await figures(books)).toMatchObject({ volume: 11e6, last: 6_000, candle: [both], day: 11e6 });
  // Nothing is stored that may still change.
  expect(await writer.extend('market00')).toBe(false);
  expect(await redis.hexists(keys.candleMarks, 'market00')).toBe(0);
  chain.wallet(bob).collateral = 0;
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  const one = { high: 5_000, low: 5_000, close: 5_000, volumeMicro: 5e6, trades: 1 };
  expect(await figures(books)).toMatchObject({ volume: 5e6, last: 5_000, candle: [one], day: 5e6 });
  await writer.extend('market00');
  expect(await redis.hexists(keys.candleMarks, 'market00')).toBe(1);
  expect(await figures(books)).toMatchObject({ volume: 5e6, last: 5_000, candle: [one], day: 5e6 });
  expect(await writer.behind()).toEqual([]);
  expect(await writer.rebuild('market00')).toBe(2);
  expect(await figures(books)).toMatchObject({ candle: [one] });
  await auditSound(books);
});

test('a market whose only match fails has traded nothing', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting } = books;
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  chain.wallet(bob).collateral = 0;
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  expect(await figures(books)).toMatchObject({ volume: 0, last: null, candle: [], day: 0 });
  await auditSound(books);
});
