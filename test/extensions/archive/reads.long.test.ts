import { Client } from 'pg';
import { Refusal } from '../../../src/exchange/errors';
import type { Market } from '../../../src/exchange/facts';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting, type Forgetting } from '../../../src/extensions/archive/store/forgetting';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../../../src/store/lists/archived-reads';
import type { OrderRecord } from '../../../src/store/records/order';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { fills, listed, oldest, pages, type Reader, readerOf, trade, trades, walked } from './reading';

/** Reads of matches, fills and settlements, half of which are in PostgreSQL, against the same reads before any of them left. */
const LIMIT_MS = 120_000;
/** Matches that leave at once. */
const STEP = 9;
const MINUTE_MS = 60_000;
const TOKEN = 'the test';
const LEASE_MS = 600_000;

describeWithPostgres('the reads of an exchange of which matches have left', () => {
  let postgres: TestPostgres;
  let redis: Awaited<ReturnType<typeof startTestRedis>>;
  let exchange: Auditing;
  let archive: Archive;
  let market: Market;
  let other: Market;
  let orders: OrderRecord[];

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
    exchange = openAuditing(redis.url);
    archive = createArchive({ url: postgres.url });
    ({ market, other, orders } = await trade(exchange));
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    exchange?.stop();
    await redis?.stop();
    await postgres?.stop();
  });

  const pastOf = (own: Archive): ArchivedReads =>
    createArchivedReads({ redis: exchange.redis, keys: exchange.keys, archive: own });
  const archived = (): Promise<Reader> => readerOf(exchange, pastOf(archive));

  let middleMs = 0;
  let refs: { marketId: string; tradeMs: number; sequence: number }[] = [];
  /** Every read, in pages of different lengths. */
  async function answers(reader: Reader): Promise<unknown> {
    const { reads, matches, broadcasts } = reader;
    const told: Record<string, unknown> = {};
    for (const order of ['asc', 'desc'] as const) {
      for (const limit of [2, 100])
        told[`trades ${order} ${limit}`] = await trades(reader, market.terms.id, { order, limit });
      told[`trades ${order} since`] = await trades(reader, market.terms.id, {
        order,
        limit: 3,
        sinceMs: middleMs,
      });
      told[`trades ${order} until`] = await trades(reader, market.terms.id, {
        order,
        limit: 3,
        untilMs: middleMs,
      });
    }
    for (const { orderHash } of orders) {
      told[orderHash] = [await reads.order(orderHash), await reads.placed(orderHash)];
      for (const limit of [1, 7]) told[`${orderHash} ${limit}`] = await fills(reader, orderHash, limit);
    }
    for (const wallet of exchange.wallets.slice(0, 4))
      told[wallet] = await pages(async (cursor) => {
        const page = await reads.orders(wallet, {}, { limit: 3, cursor });
        return { rows: page.orders, next: page.next };
      });
    const { id } = market.terms;
    for (const filter of [{}, { marketId: id }, { status: 'CONFIRMED' }, { status: 'FAILED' }] as const)
      for (const limit of [2, 50])
        told[`${JSON.stringify(filter)} ${limit}`] = await listed(reader, filter, limit);
    told.walked = [await walked(reader), await walked(reader, id)];
    told.found = await reader.settlements.find({ ...(refs[0] ?? raise()), part: 0 });
    told.loaded = await matches.load(refs);
    told.broadcast = await broadcasts.fills(id, refs);
    told.recent = [1, 3, 30].map(async (most) => (await reads.snapshot(id, most)).fills);
    told.recent = await Promise.all(told.recent as Promise<unknown>[]);
    told.candles = await reads.candles(id, 0, MINUTE_MS);
    return told;
  }
  let forgetting: Forgetting | null = null;
  async function archiving(): Promise<Forgetting> {
    const { redis: client, run, keys } = exchange;
    const own = createForgetting({ redis: client, run, keys, archive, keepMs: 0 });
    await own.lease.take(TOKEN, LEASE_MS);
    await own.open();
    forgetting = own;
    return own;
  }

  /** The oldest matches of a market leave, with their settlements and the orders that are over with them. */
  async function leave({ terms: { id } }: Market, count: number): Promise<number> {
    const leaving = await oldest(exchange, id, count);
    if (!leaving) return 0;
    expect(await (forgetting ?? (await archiving())).move(TOKEN, leaving)).toMatchObject({ matches: count });
    return count;
  }

  const copy = new Map<string, Buffer>();
  /** Puts everything back into Redis, and lets a number of the matches leave again. */
  async function bring(gone: number): Promise<void> {
    const { redis: client } = exchange;
    await client.flushall();
    for (const [key, dump] of copy) await client.restore(Buffer.from(key, 'latin1'), 0, dump);
    await archive.cutBack(0);
    forgetting = null;
    if (gone > 0) await leave(market, gone);
  }
  const raise = (): never => {
    throw new Error('nothing was traded');
  };

  let before: unknown;
  test(
    'nothing that is asked shows which matches have left, from none of them to all',
    async () => {
      const { redis: client, keys } = exchange;
      const entries = await client.xrange(keys.trades(market.terms.id), '-', '+');
      refs = entries.map(([id]) => {
        const [tradeMs = 0, sequence = 0] = id.split('-').map(Number);
        return { marketId: market.terms.id, tradeMs, sequence };
      });
      middleMs = refs[Math.floor(refs.length / 2)]?.tradeMs ?? 0;
      const plain = await readerOf(exchange, NO_ARCHIVED_READS);
      before = await answers(plain);
      for (const key of await client.keysBuffer('*'))
        copy.set(key.toString('latin1'), (await client.dumpBuffer(key)) ?? raise());
      const reader = await archived();
      expect(await answers(reader)).toEqual(before);
      for (let left = 0; left < refs.length; ) {
        const gone = await leave(market, Math.min(STEP, refs.length - left));
        expect(await answers(reader)).toEqual(before);
        if (left === 0) await leave(other, 2);
        left += gone;
      }
      expect(await client.xlen(keys.trades(market.terms.id))).toBe(0);
      expect((await archive.size()).matches).toBe(refs.length + 2);
    },
    LIMIT_MS,
  );

  test('candles that are counted again count the matches that left', async () => {
    const reader = await archived();
    const { redis: client, keys } = exchange;
    await client.hdel(keys.candleMarks, market.terms.id);
    expect(await answers(reader)).toEqual(before);
    expect(await reader.candles.rebuild(market.terms.id)).toBe(refs.length);
    expect(await answers(reader)).toEqual(before);
  });

  test(
    'a page is whole when matches leave between its read of Redis and that of the archive',
    async () => {
      const id = market.terms.id;
      let reads = 0;
      const archivedReads = pastOf(archive);
      /** Matches leave before and after every other read of the archive. */
      const late =
        <Args extends unknown[], T>(read: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          const isHooked = reads++ % 2 === 0;
          if (isHooked) await leave(market, 1);
          const found = await read(...args);
          if (isHooked) await leave(market, 1);
          return found;
        };
      const racing = {
        ...archivedReads,
        matchesOf: late(archivedReads.matchesOf),
        matchesOfOrders: late(archivedReads.matchesOfOrders),
        matches: late(archivedReads.matches),
        settlements: late(archivedReads.settlements),
        settlementsOf: late(archivedReads.settlementsOf),
      };
      const [plain, reader] = [await readerOf(exchange, NO_ARCHIVED_READS), await readerOf(exchange, racing)];
      const asked = [
        (by: Reader) => trades(by, id, { order: 'asc', limit: 3 }),
        (by: Reader) => trades(by, id, { order: 'desc', limit: 3 }),
        (by: Reader) => trades(by, id, { order: 'asc', limit: 100 }),
        (by: Reader) => trades(by, id, { order: 'desc', limit: 100 }),
        (by: Reader) => fills(by, orders[0]?.orderHash ?? '', 2),
        (by: Reader) => listed(by, {}, 3),
        (by: Reader) => listed(by, { marketId: id }, 3),
        (by: Reader) => walked(by),
        (by: Reader) => by.matches.load(refs),
      ];
      for (const ask of asked) {
        await bring(0);
        const whole = await ask(plain);
        for (const gone of [0, Math.floor(refs.length / 2)]) {
          await bring(gone);
          reads = 0;
          expect(await ask(reader)).toEqual(whole);
          if (gone > 0) expect((await archive.size()).matches).toBeGreaterThan(gone);
        }
      }
    },
    LIMIT_MS,
  );

  test(
    "an order's fills end where the archive has dropped its matches",
    async () => {
      await bring(refs.length);
      const [reader, hash] = [await archived(), orders[0]?.orderHash ?? ''];
      const { length } = await fills(reader, hash, 1);
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      for (const table of ['archive_matches', 'archive_fills'])
        await client.query(`delete from ${table} where sequence <= $1`, [refs[1]?.sequence]);
      await client.end();
      expect(await fills(reader, hash, 1)).toHaveLength(length - 2);
    },
    LIMIT_MS,
  );

  test(
    'reads answer as if orders and matches had never been whose months were dropped, whichever went first',
    async () => {
      await bring(refs.length);
      const [reader, hash] = [await archived(), orders[1]?.orderHash ?? ''];
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      // Orders are older than their matches, so that their month may go alone.
      await client.query('delete from archive_orders');
      await client.end();
      for (let dropped = 0; dropped < 2; dropped++) {
        await answers(reader);
        expect([await reader.reads.order(hash), (await archive.size()).orders]).toEqual([null, 0]);
        expect(await archive.dropBefore(Number.MAX_SAFE_INTEGER)).toBeGreaterThan(-1);
      }
      const { id } = market.terms;
      expect(await trades(reader, id, { order: 'desc', limit: 9 })).toEqual([{ rows: [], next: null }]);
      const candles = await reader.reads.candles(id, 0, MINUTE_MS);
      expect([candles.length > 0, await reader.candles.rebuild(id)]).toEqual([true, null]);
      expect(await reader.reads.candles(id, 0, MINUTE_MS)).toEqual(candles);
    },
    LIMIT_MS,
  );

  test(
    'with PostgreSQL gone a read is refused only where it needs the archive',
    async () => {
      await bring(Math.floor(refs.length / 2));
      const reader = await archived();
      const { id } = market.terms;
      await postgres.kill();
      const [big, latest] = [orders[0]?.orderHash ?? '', orders.at(-1)?.orderHash ?? ''];
      const half = Math.floor(refs.length / 2);
      const [alice = '', , carla = ''] = exchange.wallets;
      const [left, first] = [refs[half - 1] ?? raise(), refs.at(-1) ?? raise()];
      const sinceMs = left.tradeMs + 1;
      const told = await Promise.all(
        [
          reader.reads.trades(id, { limit: 3, cursor: null }),
          reader.reads.trades(id, { limit: 3, cursor: null, order: 'asc', sinceMs }),
          reader.reads.trades(other.terms.id, { limit: 100, cursor: null, order: 'asc' }),
          reader.reads.orderFills(big, { limit: 2, cursor: null }),
          reader.reads.order(latest),
          reader.reads.snapshot(id, 3),
          reader.settlements.list({ marketId: other.terms.id }, { limit: 50, cursor: null }),
          reader.settlements.list({ status: 'FAILED' }, { limit: 50, cursor: null }),
          reader.matches.load([first]),
          reader.reads.orders(carla, { status: 'open' }, { limit: 9, cursor: null }),
          reader.reads.trades(id, { limit: 100, cursor: null }),
          reader.reads.trades(id, { limit: 3, cursor: null, order: 'asc' }),
          reader.reads.orderFills(big, { limit: 100, cursor: null }),
          reader.reads.order(orders[1]?.orderHash ?? ''),
          reader.reads.snapshot(id, 100),
          reader.settlements.list({ marketId: id }, { limit: 50, cursor: null }),
          reader.settlements.list({}, { limit: 50, cursor: null }),
          reader.settlements.find({ ...left, part: 0 }),
          reader.matches.load([left]),
          reader.reads.orders(alice, { status: 'open' }, { limit: 9, cursor: null }),
        ].map((read) =>
          read.then(
            () => 'answered',
            (error) => (error instanceof Refusal ? error.code : String(error)),
          ),
        ),
      );
      expect(told).toEqual([...Array(10).fill('answered'), ...Array(10).fill('UNAVAILABLE')]);
    },
    LIMIT_MS,
  );
});
