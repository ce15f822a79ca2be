import type { Market } from '../../../src/exchange/facts';
import { micro } from '../../../src/exchange/units';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { packMove } from '../../../src/extensions/portfolio/store/records';
import type { RunningRedis } from '../../../src/local/redis';
import { addressBytes } from '../../../src/store/records/order';
import type { RunScript } from '../../../src/store/redis/scripts';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { leaveLines, openJournals, pagesOf, type Query } from './journals';

/** Journals whose oldest lines leave Redis for PostgreSQL, against the same journals before. */
const LIMIT_MS = 120_000;
/** Lines of a journal that is longer than one step of its reader, with hours between them. */
const LONG_LINES = 250;
const HOUR_MS = 3_600_000;

describeWithPostgres('a journal with an archive', () => {
  let postgres: TestPostgres;
  let server: RunningRedis;
  let exchange: Auditing;
  let archive: Archive;
  let journals: ReturnType<typeof openJournals>;
  let market: Market;
  let long: string;
  let queries: Query[];

  beforeAll(async () => {
    [postgres, server] = await Promise.all([startTestPostgres(), startTestRedis()]);
    exchange = openAuditing(server.url);
    for (const feeRateBps of [0, 250]) await exchange.liveMarket(feeRateBps);
    for (const outcome of [1, null] as const) await exchange.endedMarket(outcome);
    archive = createArchive({ url: postgres.url });
    journals = openJournals(exchange, archive);
    [market] = [...exchange.known.values()] as [Market];
    for (let i = 0; i < 15; i++) await trade();
    long = await longJournal();
    const middle = Math.floor(LONG_LINES / 2) * HOUR_MS;
    const limit = 20;
    queries = (['asc', 'desc'] as const).flatMap((order): Query[] => [
      { limit, order },
      { limit, order, tradesOnly: true },
      { limit, order, marketId: market.terms.id },
      { limit, order, sinceMs: middle },
      { limit, order, untilMs: middle - 1 },
    ]);
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    exchange?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  async function trade(): Promise<void> {
    const [alice = '', bob = ''] = exchange.wallets;
    await exchange.place(market, alice, 0, 0, 4_400, 10);
    await exchange.place(market, bob, 0, 1, 5_600, 10);
  }
  async function longJournal(): Promise<string> {
    const address = exchange.wallets.at(-1) ?? '';
    const list = exchange.keys.journal(addressBytes(address));
    const none = micro(0);
    for (let i = 0; i < LONG_LINES; i++) {
      const move = {
        reason: 'FAUCET',
        collateralMicro: micro(i + 1),
        yesMicro: none,
        noMicro: none,
      } as const;
      await exchange.redis.rpush(list, packMove(i * HOUR_MS, market.terms.id, move));
    }
    return address;
  }

  const told = async (reads = journals.reads) => {
    const all: unknown[] = [];
    for (const wallet of [...exchange.wallets.slice(0, 2), long])
      for (const query of queries) all.push(await pagesOf(reads, wallet, query));
    return all;
  };
  const leaveOne = async (): Promise<void> => {
    for (const wallet of exchange.wallets) await leaveLines(exchange, archive, wallet, 1);
  };
  const inRedis = async (): Promise<number> => {
    const { redis, keys, wallets } = exchange;
    const lists = wallets.map((wallet) => redis.llen(keys.journal(addressBytes(wallet))));
    return (await Promise.all(lists)).reduce((sum, length) => sum + length, 0);
  };

  test(
    'no page of a journal changes before, while and after its lines leave',
    async () => {
      const before = await told();
      expect(await inRedis()).toBeGreaterThan(LONG_LINES + 40);
      await leaveOne();
      expect(await told()).toEqual(before);
      const [alice = '', bob = ''] = exchange.wallets;
      let looks = 0;
      /** Lines leave before and after looks at a journal. */
      const leaving: RunScript = async (name, keys, args) => {
        const turn = name === 'read_journal' ? looks++ % 8 : 1;
        if (turn === 0) for (const who of [alice, bob, long]) await leaveLines(exchange, archive, who, 1);
        const reply = await exchange.run(name, keys, args);
        if (turn === 4) await leaveLines(exchange, archive, long, 7);
        return reply;
      };
      expect(await told(journals.readsBy(leaving))).toEqual(before);
      for (const wallet of exchange.wallets) await leaveLines(exchange, archive, wallet, 1_000);
      expect(await inRedis()).toBe(0);
      expect(await told()).toEqual(before);
    },
    LIMIT_MS,
  );

  test(
    'lines that were dropped for their age are shown no more, and the others keep their numbers',
    async () => {
      await archive.dropBefore(Date.UTC(1971, 0));
      const page = { limit: 20, cursor: null };
      expect((await journals.reads.rows(long, {}, page)).rows).toEqual([]);
      await exchange.split(market, long, 1_000_000);
      for (const query of [{}, { order: 'asc' as const }, { sinceMs: LONG_LINES * HOUR_MS }]) {
        const { rows, next } = await journals.reads.rows(long, {}, { ...page, ...query });
        // The wallet's first grant, and the split.
        const ids = [`${LONG_LINES}-0`, `${LONG_LINES + 1}-0`];
        expect([rows.map(({ id }) => id).sort(), next]).toEqual([ids, null]);
      }
      await expect(journals.rebuild.rebuild(long)).rejects.toThrow('were dropped from the archive');
      const before = await pagesOf(journals.reads, exchange.wallets[0] ?? '', { limit: 20 });
      expect(before.flatMap(({ rows }) => rows).length).toBeGreaterThan(15);
    },
    LIMIT_MS,
  );

  test(
    'with PostgreSQL gone a page of lines in Redis is shown, and one of lines that left is refused',
    async () => {
      for (let i = 0; i < 3; i++) await trade();
      const [alice = ''] = exchange.wallets;
      const newest = { limit: 2, cursor: null };
      const page = await journals.reads.rows(alice, {}, newest);
      await postgres.kill();
      expect(await journals.reads.rows(alice, {}, newest)).toEqual(page);
      const lately = { limit: 2, cursor: null, order: 'asc', sinceMs: Date.now() + 2 * HOUR_MS } as const;
      expect((await journals.reads.rows(alice, {}, lately)).rows).toEqual([]);
      const refused = [
        { ...newest, limit: 3 },
        { ...newest, order: 'asc' as const },
        { ...newest, cursor: page.next },
      ];
      for (const asked of refused) {
        const answer = journals.reads.rows(alice, {}, { ...asked, limit: 3 });
        await expect(answer).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      }
    },
    LIMIT_MS,
  );
});
