import type { Market } from '../../../src/exchange/facts';
import { SETTLEMENT_STATUSES } from '../../../src/exchange/status';
import { type Archive, NOTHING } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting, type Forgetting } from '../../../src/extensions/archive/store/forgetting';
import { settlementName } from '../../../src/store/records/settlement';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { openJournals } from './journals';
import { oldest, readerOf, trade } from './reading';

/** The questions that a page of a wallet asks of PostgreSQL, and which of both stores it believes. */
const LIMIT_MS = 120_000;
const TOKEN = 'the test';
const LEASE_MS = 600_000;
const raise = (): never => {
  throw new Error('nothing was settled');
};
const PAGE = { limit: 100, cursor: null };

describeWithPostgres('pages of which a part is in the archive', () => {
  let postgres: TestPostgres;
  let redis: Awaited<ReturnType<typeof startTestRedis>>;
  let exchange: Auditing;
  let archive: Archive;
  let forgetting: Forgetting;
  let market: Market;
  let other: Market;

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
    exchange = openAuditing(redis.url);
    archive = createArchive({ url: postgres.url });
    ({ market, other } = await trade(exchange));
    const { redis: client, run, keys } = exchange;
    forgetting = createForgetting({ redis: client, run, keys, archive, keepMs: 0 });
    await forgetting.lease.take(TOKEN, LEASE_MS);
    await forgetting.open();
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    exchange?.stop();
    await redis?.stop();
    await postgres?.stop();
  });

  async function leave({ terms: { id } }: Market, count: number): Promise<void> {
    const leaving = await oldest(exchange, id, count);
    if (leaving) await forgetting.move(TOKEN, leaving);
  }

  /** The archive, and the queries that it was asked. */
  function counted(): { asked: Archive; queries: string[] } {
    const queries: string[] = [];
    const asked = new Proxy(archive, {
      get(target, name: keyof Archive) {
        return (...args: unknown[]): unknown => {
          queries.push(name);
          return (target[name] as (...given: unknown[]) => unknown)(...args);
        };
      },
    });
    return { asked, queries };
  }

  test('a page of orders asks the archive once for all of their fills, however many of them left', async () => {
    const matches = await exchange.redis.xlen(exchange.keys.trades(market.terms.id));
    const wallets = exchange.wallets.slice(0, 4);
    const plain = await readerOf(exchange, createArchivedReads({ ...exchange, archive }));
    const before = await Promise.all(wallets.map((wallet) => plain.reads.orders(wallet, {}, PAGE)));
    const { asked, queries } = counted();
    const archivedReads = createArchivedReads({ ...exchange, archive: asked });
    const { reads } = await readerOf(exchange, archivedReads);
    for (const gone of [Math.floor(matches / 2), matches]) {
      await leave(market, gone);
      await leave(other, gone);
      await archivedReads.droppedMs();
      for (const [i, wallet] of wallets.entries()) {
        queries.length = 0;
        const { orders } = await reads.orders(wallet, {}, PAGE);
        expect(orders).toEqual(before[i]?.orders);
        const filled = orders.filter(({ fills }) => fills.length > 0).length;
        expect([wallet, filled > 1]).toEqual([wallet, true]);
        const own = queries.filter((name) => name !== 'state').sort();
        expect([wallet, new Set(own).size]).toEqual([wallet, own.length]);
        expect(own).toEqual(expect.arrayContaining(['matchesOfOrders', 'ofWallet', 'settlements']));
      }
    }
  });

  test('a page of trades asks the archive once for all of their matches, orders and settlements', async () => {
    const { asked, queries } = counted();
    const { journal, reads } = openJournals(exchange, asked);
    await journal.catchUp();
    for (const wallet of exchange.wallets.slice(0, 4)) {
      await reads.rows(wallet, {}, PAGE);
      queries.length = 0;
      const { rows } = await reads.rows(wallet, {}, PAGE);
      expect([wallet, rows.length > 1]).toEqual([wallet, true]);
      expect(queries.sort()).toEqual(['matches', 'orders', 'settlements']);
    }
  });

  test('a settlement that Redis has is listed as it is there, also when the archive has a later state that Redis lost', async () => {
    const [, bob = '', carla = ''] = exchange.wallets;
    await exchange.place(market, bob, 0, 0, 4_000, 10);
    await exchange.place(market, carla, 0, 1, 6_000, 10);
    await exchange.settle();
    const { settlements } = await readerOf(exchange, createArchivedReads({ ...exchange, archive }));
    const newest = async () => {
      const page = await settlements.list({ marketId: market.terms.id }, { limit: 1, cursor: null });
      return page.records[0] ?? raise();
    };
    const confirmed = await newest();
    const name = settlementName(confirmed);
    const [record] = await settlements.packed([name]);
    const [listMs = 0, listIndex = 0] = confirmed.listId.split('-').map(Number);
    const row = { ...confirmed, listMs, listIndex, record: record ?? raise() };
    // Committed, but nothing of it was forgotten; then Redis comes back as it was a second before.
    const { batch } = (await archive.state()) ?? raise();
    expect(await archive.append(batch + 1, { ...NOTHING, settlements: [row] })).toBe(true);
    const before = Buffer.concat([
      Buffer.from([SETTLEMENT_STATUSES.indexOf('SUBMITTED')]),
      row.record.subarray(1),
    ]);
    await exchange.redis.hset(exchange.keys.settlements, name, before);
    const found = await settlements.find(confirmed);
    expect(found?.settlementStatus).toBe('SUBMITTED');
    expect(await newest()).toEqual(found);
  });
});
