import { pips } from '../../../src/exchange/units';
import type { Archive, Batch } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting, Fenced } from '../../../src/extensions/archive/store/forgetting';
import { createMarketForgetting, MARKET_KEEP_MS } from '../../../src/extensions/archive/store/markets';
import type { RunningRedis } from '../../../src/local/redis';
import { createHistory } from '../../../src/store/candles/history';
import { createCandleWriter } from '../../../src/store/candles/writer';
import { RESOLUTION } from '../../../src/store/records/layout';
import {
  createMarket,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  openStore,
  type Store,
  type TradingMarket,
} from '../../store/trading';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { createRandom } from '../../support/random';
import { startTestRedis } from '../../support/redis';
import { chooseSeed } from '../../support/telling';

/** Markets that ended long ago give up their candles, and every answer about their prices stays. */
const LIMIT_MS = 120_000;
const TOKEN = 'the test';
const LEASE_MS = 600_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** More than one row of the archive has. */
const INVENTED = 2_500;
const MATCHES = 400;
const WINDOWS = 60;
const HALTED = '2';

describeWithPostgres('a market that ended long ago', () => {
  const random = createRandom(chooseSeed('forgotten markets'));
  let postgres: TestPostgres;
  let server: RunningRedis;
  let archive: Archive;
  let store: Store;

  beforeAll(async () => {
    [postgres, server] = [await startTestPostgres(), await startTestRedis()];
    archive = createArchive({ url: postgres.url });
    store = await openStore(server.url);
  }, LIMIT_MS);
  afterAll(async () => {
    store?.stop();
    await archive?.close();
    await Promise.all([server?.stop(), postgres?.stop()]);
  });

  const withPast = () => ({ ...store, archivedReads: createArchivedReads({ ...store, archive }) });

  /** A market with candles of many minutes; its matches have left, and a log of its updates is there. */
  async function tradedMarket(id: string): Promise<TradingMarket> {
    const market = createMarket(store, id);
    await market.list();
    const writer = createCandleWriter(store);
    const minutes = Array.from({ length: INVENTED }, (_, i) => {
      const price = pips(random.int(1, 9_999));
      const prices = { open: price, high: price, low: price, close: price };
      return { startMs: BEGIN_MS + i * MINUTE_MS * (1 + (i % 2)), ...prices };
    }).sort((a, b) => a.startMs - b.startMs);
    const distinct = minutes.filter(({ startMs }, i) => startMs !== minutes[i - 1]?.startMs);
    expect(await writer.preload(id, distinct)).toBe(true);
    let ms = BEGIN_MS + 10 * DAY_MS;
    for (let i = 0; i < MATCHES; i++) {
      ms += random.int(1, 3 * HOUR_MS);
      await market.match(random, ms);
    }
    while (await writer.extend(id));
    for (let i = 1; i <= 50; i++) await store.redis.xadd(store.keys.updates(id), `${i}-0`, 'u', 'update');
    return market;
  }

  const ended = ({ id }: TradingMarket, paidAtMs: number) =>
    store.redis.hset(
      store.keys.market(id),
      ...['r', RESOLUTION.pack({ ...RESULT, resolvedAtMs: paidAtMs, paidAtMs })],
    );
  const RESULT = { outcome: 0, setsMicro: 0, paidMicro: 0, accounts: 0 } as const;
  const longAgo = () => Date.now() - MARKET_KEEP_MS - MINUTE_MS;

  async function holding(more: Partial<Parameters<typeof createMarketForgetting>[0]> = {}) {
    const forgetting = createForgetting({ ...store, archive });
    await forgetting.lease.take(TOKEN, LEASE_MS);
    await forgetting.open();
    const options = { ...store, now: Date.now, commit: forgetting.commit, ...more };
    return { ...createMarketForgetting(options), commit: forgetting.commit };
  }

  const seriesOf = async ({ id }: TradingMarket): Promise<number> =>
    store.redis.exists(...[60, 1_800, 43_200].map((seconds) => store.keys.candles(id, seconds)));

  test(
    'its candles leave, and every window of its prices is as before',
    async () => {
      const market = await tradedMarket('market01');
      const windows = Array.from({ length: WINDOWS }, () => {
        const bucketMs = random.pick([MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, DAY_MS / 2, DAY_MS]);
        const anyMs = BEGIN_MS + random.int(-2, 80) * DAY_MS + random.int(0, DAY_MS);
        const fromMs = random.chance(0.2) ? 0 : anyMs - (anyMs % bucketMs);
        return { bucketMs, fromMs, most: random.chance(0.4) ? undefined : random.int(1, 1_500) };
      });
      const answers = async () => {
        const history = createHistory(withPast());
        const found = [];
        for (const { fromMs, bucketMs, most } of windows)
          found.push(await history.candles(market.id, fromMs, bucketMs, most));
        return found;
      };
      const before = await answers();
      await store.redis.del(store.keys.trades(market.id));
      await ended(market, longAgo());
      expect(await (await holding()).forgetEnded(TOKEN)).toBe(1);
      expect([await seriesOf(market), await store.redis.xlen(store.keys.updates(market.id))]).toEqual([0, 1]);
      expect(await answers()).toEqual(before);
      expect((await archive.size()).parts).toBeGreaterThan(3);
      expect(await (await holding()).forgetEnded(TOKEN)).toBe(0);
      // Without the archive there is no answer, not an empty one.
      const silent = { ...archive, partsFrom: () => Promise.reject(new Error('away')) };
      const archivedReads = createArchivedReads({ ...store, archive: silent });
      await expect(createHistory({ ...store, archivedReads }).candles(market.id, 0, DAY_MS)).rejects.toThrow(
        'away',
      );
    },
    LIMIT_MS,
  );

  test(
    'it stays whole while it is not paid, has matches, is younger, or another process has the lease',
    async () => {
      const market = await tradedMarket('market02');
      const none = async (why: string): Promise<void> => {
        const gone = await (await holding()).forgetEnded(TOKEN);
        expect([why, gone, await seriesOf(market)]).toEqual([why, 0, 3]);
      };
      await ended(market, longAgo());
      await none('matches');
      await store.redis.del(store.keys.trades(market.id));
      await ended(market, 0);
      await none('not paid');
      await ended(market, longAgo() + 2 * MINUTE_MS);
      await none('young');
      await ended(market, longAgo());
      const holder = await holding();
      await store.redis.set(store.keys.mode, HALTED);
      await expect(holder.forgetEnded(TOKEN)).rejects.toThrow(Fenced);
      await store.redis.del(store.keys.mode);
      await expect((await holding()).forgetEnded('another')).rejects.toThrow(Fenced);
      expect(await seriesOf(market)).toBe(3);
    },
    LIMIT_MS,
  );

  test(
    'candles that were rebuilt in between stay, and leave the next time as they are then',
    async () => {
      const market = createMarket(store, 'market03');
      await market.list();
      for (let i = 0; i < 20; i++) await market.match(random, BEGIN_MS + i * HOUR_MS);
      const writer = createCandleWriter(store);
      await writer.extend(market.id);
      const trades = await store.redis.dumpBuffer(store.keys.trades(market.id));
      await store.redis.del(store.keys.trades(market.id));
      await ended(market, longAgo());
      const holder = await holding();
      const late = async (rows: Batch): Promise<number> => {
        const number = await holder.commit(rows);
        await store.redis.restore(store.keys.trades(market.id), 0, trades);
        await writer.rebuild(market.id);
        await store.redis.del(store.keys.trades(market.id));
        return number;
      };
      const racing = createMarketForgetting({ ...store, now: Date.now, commit: late });
      await racing.forgetEnded(TOKEN);
      expect(await seriesOf(market)).toBe(3);
      const before = await createHistory(withPast()).candles(market.id, 0, HOUR_MS);
      // The same holder goes on: its next batch is the next one for Redis, too.
      await holder.forgetEnded(TOKEN);
      expect(await seriesOf(market)).toBe(0);
      expect(await createHistory(withPast()).candles(market.id, 0, HOUR_MS)).toEqual(before);
    },
    LIMIT_MS,
  );
});
