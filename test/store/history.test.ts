import type { RunningRedis } from '../../src/local/redis';
import { createHistory, type History } from '../../src/store/candles/history';
import { createCandleWriter } from '../../src/store/candles/writer';
import type { RunScript } from '../../src/store/redis/scripts';
import { historyWindow, presentHistory, TIMEFRAMES } from '../../src/wire/answers/history';
import { createRandom, type Random } from '../support/random';
import { startTestRedis } from '../support/redis';
import { chooseSeed } from '../support/telling';
import { sleep } from '../support/waiting';
import {
  createMarket,
  DAY_MS,
  expectedCandles,
  expectedDay,
  HOUR_MS,
  MINUTE_MS,
  nextMs,
  openStore,
  type Store,
  TERMS,
  type TradingMarket,
} from './trading';

const SEED = chooseSeed('price history');
const LATE_MS_MAX = 15;
const BEGIN_MS = Date.UTC(2026, 0, 1) + 17;

let server: RunningRedis;
let store: Store;
let other: Store;

beforeAll(async () => {
  server = await startTestRedis();
  [store, other] = [await openStore(server.url), await openStore(server.url)];
});
afterAll(async () => {
  store.stop();
  other.stop();
  await server.stop();
});

/** Every timeframe and the day, as shown at `nowMs`, against the list of trades. */
async function check(history: History, { id, trades, state }: TradingMarket, nowMs: number): Promise<void> {
  for (const timeframe of TIMEFRAMES) {
    const window = historyWindow(timeframe, nowMs);
    const found = await history.candles(id, window.fromMs, window.bucketMs);
    const { candles, history: points, outcomes } = presentHistory({ ...TERMS, id }, window, found);
    const expected = expectedCandles(trades, timeframe, nowMs);
    expect({ timeframe, candles }).toEqual({ timeframe, candles: expected });
    expect(points).toEqual(expected.map(({ t, c }) => ({ t, p: c })));
    expect(outcomes[1]?.history.length).toBe(expected.length);
  }
  expect(await history.day(id, state(), nowMs)).toEqual(expectedDay(trades, nowMs));
}

/** Late writers, and lost replies: of a script that has run, or that never arrived. */
const unreliable =
  (run: RunScript, random: Random): RunScript =>
  async (name, keys, args) => {
    if (name !== 'write_candles') return run(name, keys, args);
    if (random.chance(0.3)) await sleep(random.int(0, LATE_MS_MAX));
    if (!random.chance(0.3)) return run(name, keys, args);
    if (random.chance(0.5)) await run(name, keys, args);
    throw new Error('gone');
  };

test('history is an aggregation of the trades at any moment, however many the workers have counted', async () => {
  const random = createRandom(SEED);
  const market = createMarket(store, 'history1');
  const writers = [store, other].map((each) =>
    createCandleWriter({ ...each, run: unreliable(each.run, random) }),
  );
  const lasting = createHistory(other);
  let ms = BEGIN_MS;
  for (let round = 0; round < 25; round++) {
    for (let i = random.int(0, 150); i > 0; i--) {
      ms = nextMs(random, ms);
      await market.match(random, ms);
    }
    // A process that ran from the beginning, and one that has just started.
    for (const history of [lasting, createHistory(store)]) {
      const work = writers.filter(() => random.chance(0.4)).map((writer) => writer.extend(market.id));
      await Promise.all([check(history, market, ms + random.int(0, HOUR_MS)), Promise.allSettled(work)]);
    }
  }
  await check(createHistory(store), market, ms + 23 * HOUR_MS);
  await check(createHistory(store), market, ms + 40 * DAY_MS);
});

test('a day has 24 hours at its edges, to the minute', async () => {
  const random = createRandom(SEED);
  for (const isCounted of [false, true]) {
    const market = createMarket(store, isCounted ? 'edges001' : 'edges002');
    for (const ms of [0, MINUTE_MS - 18, MINUTE_MS, 2 * MINUTE_MS + 1, DAY_MS, DAY_MS + 5]) {
      await market.match(random, BEGIN_MS - 17 + ms);
    }
    if (isCounted) await createCandleWriter(store).extend(market.id);
    const history = createHistory(store);
    for (const ms of [0, 17, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1, 2 * MINUTE_MS, 3 * MINUTE_MS, DAY_MS]) {
      const nowMs = BEGIN_MS - 17 + DAY_MS + ms;
      expect(await history.day(market.id, market.state(), nowMs)).toEqual(expectedDay(market.trades, nowMs));
    }
    expect(await history.day(market.id, market.state(), BEGIN_MS + 2 * DAY_MS + HOUR_MS)).toEqual({
      volumeMicro: 0,
      openPips: market.state().lastPips,
    });
  }
});

test('concurrent workers that are killed at any point count each match once, and counted matches stay counted', async () => {
  const random = createRandom(SEED + 1);
  const market = createMarket(store, 'history2');
  let ms = BEGIN_MS;
  for (let i = 0; i < 2_600; i++) {
    ms = nextMs(random, ms);
    await market.match(random, ms);
  }
  await market.list();
  const writers = [store, store, other, other].map((each) =>
    createCandleWriter({ ...each, run: unreliable(each.run, random) }),
  );
  const work = async ({ behind, extend }: (typeof writers)[number]): Promise<void> => {
    while ((await behind()).includes(market.id)) await extend(market.id).catch(() => undefined);
  };
  await Promise.all(writers.map(work));
  // Nothing is left to fall back on.
  await store.redis.del(store.keys.trades(market.id));
  for (const later of [0, HOUR_MS, DAY_MS, 8 * DAY_MS]) await check(createHistory(store), market, ms + later);
});

test('a market without a trade has no history', async () => {
  await createCandleWriter(store).extend('nothing1');
  await createCandleWriter(store).rebuild('nothing1');
  await check(createHistory(store), createMarket(store, 'nothing1'), BEGIN_MS);
});
