import type { RunningRedis } from '../../src/local/redis';
import { createHistory, type History } from '../../src/store/candles/history';
import { createCandleWriter } from '../../src/store/candles/writer';
import { CANDLE_INTERVALS, presentCandles, windowOf } from '../../src/wire/answers/candles';
import { createRandom, type Random } from '../support/random';
import { startTestRedis } from '../support/redis';
import { chooseSeed } from '../support/telling';
import {
  createMarket,
  DAY_MS,
  expectedBuckets,
  HOUR_MS,
  MINUTE_MS,
  nextMs,
  openStore,
  type Store,
  TERMS,
  type TradingMarket,
} from './trading';

const SEED = chooseSeed('candles');
const BEGIN_MS = Date.UTC(2026, 0, 1) + 17;

let server: RunningRedis;
let store: Store;

beforeAll(async () => {
  server = await startTestRedis();
  store = await openStore(server.url);
});
afterAll(async () => {
  store.stop();
  await server.stop();
});

const complement = (price: string): string => String(Number((1 - Number(price)).toFixed(4)));

/** Compares the store's answer to a random request with the list of trades. */
async function check(
  history: History,
  { id, trades }: TradingMarket,
  nowMs: number,
  random: Random,
): Promise<void> {
  const interval = random.pick(CANDLE_INTERVALS);
  const outcome = random.int(0, 1) as 0 | 1;
  const anyMs = () => Math.max(0, BEGIN_MS - DAY_MS + random.int(0, nowMs - BEGIN_MS + 2 * DAY_MS));
  const limit = random.chance(0.3) ? 1_000 : random.int(1, 60);
  const toMs = random.chance(0.5) ? anyMs() : undefined;
  const fromMs = random.chance(0.2) ? 0 : random.chance(0.6) ? Math.min(anyMs(), toMs ?? nowMs) : undefined;
  const window = windowOf({ interval, outcome, limit, fromMs, toMs }, nowMs);
  const found = await history.candles(id, window.fromMs, window.bucketMs, window.most);
  const shown = presentCandles({ ...TERMS, id }, window, found);
  const all = expectedBuckets(trades, window.bucketMs, window.fromMs, window.lastMs);
  const expected = (fromMs === undefined ? all.slice(-limit) : all.slice(0, limit)).map((candle) => {
    const { t, o, h, l, c, v, n } = candle;
    if (outcome === 0) return { t, o, h, l, c, v, n };
    return { t, o: complement(o), h: complement(l), l: complement(h), c: complement(c), v, n };
  });
  const asked = { id, interval, outcome, limit, fromMs, toMs, nowMs };
  expect({ ...asked, candles: shown.candles }).toEqual({ ...asked, candles: expected });
}

test('candles of any interval, range and outcome are sums over the trades, however many are counted already', async () => {
  const random = createRandom(SEED);
  const market = createMarket(store, 'candles1');
  const writer = createCandleWriter(store);
  let ms = BEGIN_MS;
  for (let round = 0; round < 12; round++) {
    for (let i = random.int(0, 200); i > 0; i--) {
      ms = nextMs(random, ms);
      await market.match(random, ms);
    }
    if (random.chance(0.6)) await writer.extend(market.id);
    const history = createHistory(store);
    for (let i = 0; i < 12; i++) await check(history, market, ms + random.int(0, HOUR_MS), random);
  }
  expect(market.trades.length).toBeGreaterThan(200);
});

test('a candle that is requested while its minute is half counted has all of its trades', async () => {
  const random = createRandom(SEED);
  const market = createMarket(store, 'candles2');
  for (let minute = 0; minute < 3; minute++) await market.match(random, BEGIN_MS + minute * MINUTE_MS);
  await createCandleWriter(store).extend(market.id);
  await market.match(random, BEGIN_MS + 2 * MINUTE_MS + 5);
  const window = windowOf(
    { interval: '1m', outcome: 0, limit: 3, fromMs: BEGIN_MS - 17, toMs: undefined },
    BEGIN_MS + HOUR_MS,
  );
  const found = await createHistory(store).candles(market.id, window.fromMs, window.bucketMs, window.most);
  const shown = presentCandles({ ...TERMS, id: market.id }, window, found).candles;
  const counts = shown.map(({ n }) => n);
  const expected = expectedBuckets(market.trades, MINUTE_MS, window.fromMs, window.lastMs).slice(0, 3);
  expect(counts).toEqual(expected.map(({ n }) => n));
  expect(shown.map(({ v }) => v)).toEqual(expected.map(({ v }) => v));
});

test('prices are invented for no market that has traded, counted or not', async () => {
  const market = createMarket(store, 'candles4');
  await market.match(createRandom(SEED), BEGIN_MS);
  const minute = { startMs: BEGIN_MS - 17 - MINUTE_MS, open: 1, high: 1, low: 1, close: 1 };
  expect(await createCandleWriter(store).preload(market.id, [minute])).toBe(false);
});
