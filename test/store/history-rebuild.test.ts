import type { RunningRedis } from '../../src/local/redis';
import { createHistory } from '../../src/store/candles/history';
import { createCandleWriter } from '../../src/store/candles/writer';
import { CANDLE_BYTES } from '../../src/store/records/candle';
import type { RunScript } from '../../src/store/redis/scripts';
import { historyWindow, presentHistory, TIMEFRAMES } from '../../src/wire/answers/history';
import { createShell } from '../cli/shell';
import { createRandom } from '../support/random';
import { startTestRedis } from '../support/redis';
import { sampleOf } from '../support/sample';
import { chooseSeed } from '../support/telling';
import {
  createMarket,
  expectedCandles,
  expectedDay,
  nextMs,
  openStore,
  type Store,
  TERMS,
  type TradingMarket,
} from './trading';

const SEED = chooseSeed('price history rebuilt');
const MARKETS = ['rebuild1', 'rebuild2', 'rebuild3'];

let server: RunningRedis;
let store: Store;
const random = createRandom(SEED);
const markets: TradingMarket[] = [];
let ms = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  server = await startTestRedis();
  store = await openStore(server.url);
  for (const id of MARKETS) markets.push(createMarket(store, id));
  for (const market of markets.slice(0, 2)) await market.list();
  // The third market has not traded when it is listed.
  await markets[2]?.list();
  await trade(1_500);
});
afterAll(async () => {
  store.stop();
  await server.stop();
});

async function trade(matches: number): Promise<void> {
  for (let i = 0; i < matches; i++) {
    ms = nextMs(random, ms);
    await markets[random.int(0, 1)]?.match(random, ms);
  }
}

async function run(): Promise<string> {
  const { code, out, err } = await createShell(server.url).exchange('history', 'rebuild');
  expect([code, err]).toEqual([0, '']);
  return out;
}

async function checkAll(): Promise<void> {
  const history = createHistory(store);
  for (const { id, trades, state } of markets) {
    for (const timeframe of TIMEFRAMES) {
      const window = historyWindow(timeframe, ms);
      const found = await history.candles(id, window.fromMs, window.bucketMs);
      const { candles } = presentHistory({ ...TERMS, id }, window, found);
      expect({ id, timeframe, candles }).toEqual({
        id,
        timeframe,
        candles: expectedCandles(trades, timeframe, ms),
      });
    }
    expect(await history.day(id, state(), ms)).toEqual(expectedDay(trades, ms));
  }
}

const stored = async () => {
  const { redis, keys } = store;
  const series = MARKETS.flatMap((id) => [60, 1_800, 43_200].map((seconds) => keys.candles(id, seconds)));
  return redis.mgetBuffer(series);
};

test('candles rebuilt from the trades equal those that the worker counted', async () => {
  const writer = createCandleWriter(store);
  for (const id of await writer.behind()) while (await writer.extend(id));
  const counted = await stored();
  expect(counted.filter((packed) => packed?.length)).toHaveLength(6);
  expect(await run()).toContain('3 markets\n');
  expect((await stored()).map((packed) => packed ?? Buffer.alloc(0))).toEqual(
    counted.map((packed) => packed ?? Buffer.alloc(0)),
  );
  expect(await writer.behind()).toEqual([]);
});

type Spoil = (key: string) => Promise<unknown>;
const SPOILT: readonly (readonly [what: string, spoil: Spoil])[] = [
  ['lost', async (key: string) => store.redis.del(key)],
  [
    'torn',
    async (key: string) =>
      store.redis.set(key, (await store.redis.getBuffer(key))?.subarray(CANDLE_BYTES) ?? ''),
  ],
  ['wrong', async (key: string) => store.redis.setrange(key, CANDLE_BYTES, 'x'.repeat(CANDLE_BYTES * 7))],
];

/** A run of `npm test` plays one of them. */
test.each(sampleOf('kinds of spoilt candles', SPOILT, 1))(
  'candles that are %s are put right while trading, counting and reading go on',
  async (_what, spoil) => {
    for (const id of MARKETS) {
      for (const seconds of [60, 1_800, 43_200]) await spoil(store.keys.candles(id, seconds));
    }
    const writer = createCandleWriter(store);
    let isRebuilt = false;
    const count = async (): Promise<void> => {
      // Damaged candles may be refused; a late writer must never change the new ones.
      while (!isRebuilt) for (const id of MARKETS) await writer.extend(id).catch(() => undefined);
    };
    const rebuild = async (): Promise<void> => {
      await Promise.all([run(), run()]);
      isRebuilt = true;
    };
    await Promise.all([trade(300), count(), rebuild()]);
    await checkAll();
    for (const id of await writer.behind()) while (await writer.extend(id));
    await checkAll();
  },
);

test('a writer that has read the candles before a rebuild does not write to the new ones', async () => {
  const [{ id, match }] = markets as [TradingMarket];
  const writer = createCandleWriter(store);
  while (await writer.extend(id));
  await store.redis.set(store.keys.candles(id, 60), '');
  let rebuilt = (): void => undefined;
  const isRebuilt = new Promise<void>((resolve) => {
    rebuilt = resolve;
  });
  let late: Promise<boolean> | null = null;
  // It reads the torn candles and a new match, and writes once the rebuild has counted up to the same mark.
  const lateRun: RunScript = async (name, keys, args) => {
    if (name === 'write_candles') await isRebuilt;
    return store.run(name, keys, args);
  };
  const rebuildRun: RunScript = async (name, keys, args) => {
    if (name === 'write_candles' && late === null) {
      ms += 1;
      await match(random, ms);
      late = createCandleWriter({ ...store, run: lateRun }).extend(id);
      // It asks for the run of Redis first; then its read of the candles is on the connection before this write is.
      for (let i = 0; i < 2; i++) await store.redis.ping();
    }
    return store.run(name, keys, args);
  };
  await createCandleWriter({ ...store, run: rebuildRun }).rebuild(id);
  rebuilt();
  // Refused, so there is more to do.
  expect(await late).toBe(true);
  await writer.extend(id);
  await checkAll();
});

test('the command shows how many matches it has counted, and the log of the operators contains it', async () => {
  const { redis, keys } = store;
  const { markets: told } = await createShell(server.url).json('history', 'rebuild');
  const matches = await Promise.all(MARKETS.map((id) => redis.xlen(keys.trades(id))));
  expect(matches[0]).toBeGreaterThan(0);
  expect(new Set(told)).toEqual(new Set(MARKETS.map((market, i) => ({ market, matches: matches[i] }))));
  const records = Object.values(await redis.hgetall(keys.actionRecords));
  expect(records.join('\n')).toContain('"action":"history rebuild"');
  await checkAll();
});
