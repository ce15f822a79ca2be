import type { DifferenceKind } from '../../../src/exchange/audit';
import type { Market } from '../../../src/exchange/facts';
import { chainScale } from '../../../src/exchange/order';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import type { RunningRedis } from '../../../src/local/redis';
import { LEFT } from '../../../src/store/records/layout';
import type { RedisClient } from '../../../src/store/redis/scripts';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { createAudit } from '../../support/audit';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { leaveMatches, leaveOrders } from './leaving';

/** The audit of an exchange whose matches, settlements and orders leave Redis for PostgreSQL. */
const LIMIT_MS = 120_000;
/** More matches than the audit reads in one step. */
const MATCHES = 260;
/** After every match. */
const LATER_MS = 4_000_000_000_000;

describeWithPostgres('the audit of an exchange with an archive', () => {
  let postgres: TestPostgres;
  let server: RunningRedis;
  let exchange: Auditing;
  let archive: Archive;
  let market: Market;

  beforeAll(async () => {
    [postgres, server] = await Promise.all([startTestPostgres(), startTestRedis()]);
    exchange = openAuditing(server.url);
    archive = createArchive({ url: postgres.url });
    market = await exchange.liveMarket(0);
    await exchange.liveMarket(250);
    await trade(MATCHES);
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    exchange?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  /** Many takers meet one order, so its chain is long. */
  async function trade(matches: number): Promise<void> {
    const [, , carla = '', dora = ''] = exchange.wallets;
    await exchange.place(market, dora, 0, 0, 4_800, matches * 10 + 5);
    for (let i = 0; i < matches; i++) await exchange.place(market, carla, 0, 1, 5_200, 10);
    await exchange.settle();
    await createJournal({ ...exchange, doubts: () => 0 }).catchUp();
  }
  const differences = async (redis: RedisClient = exchange.redis) => {
    const { run, keys } = exchange;
    return (await createAudit({ redis, run, keys, scale: chainScale(18) })()).differences;
  };

  test(
    'the audit finds no difference while matches and orders leave, also those that leave while it counts',
    async () => {
      const { redis, keys } = exchange;
      const id = market.terms.id;
      expect(await differences()).toEqual([]);
      await leaveMatches(exchange, archive, id, 3);
      expect(await differences()).toEqual([]);
      await leaveOrders(exchange, archive);
      expect(await differences()).toEqual([]);
      let turns = 0;
      /** Matches and orders leave between the steps of the audit: some that were counted, and more than were. */
      const leaving = new Proxy(redis, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          return (...args: unknown[]) => {
            const isOwn =
              name === 'hmgetBuffer' && args[0] === keys.settlements && String(args[1]).startsWith(id);
            if (!isOwn || turns > 2) return member.apply(target, args);
            return leaveMatches(exchange, archive, id, turns++ === 0 ? 205 : 2)
              .then(() => leaveOrders(exchange, archive))
              .then(() => member.apply(target, args));
          };
        },
      });
      expect(await differences(leaving)).toEqual([]);
      expect(turns).toBeGreaterThan(1);
      expect(await differences()).toEqual([]);
      expect(await redis.xlen(keys.trades(id))).toBeLessThan(MATCHES - 205);
      await trade(3);
      expect(await differences()).toEqual([]);
    },
    LIMIT_MS,
  );

  const changedSums = (change: Partial<ReturnType<typeof LEFT.read>>) => async () => {
    const { redis, keys } = exchange;
    const sums = LEFT.read((await redis.hgetBuffer(keys.market(market.terms.id), 'f')) as Buffer);
    await redis.hset(keys.market(market.terms.id), 'f', LEFT.pack({ ...sums, ...change }));
  };
  const faults: readonly [string, DifferenceKind, () => Promise<unknown>][] = [
    ['sums of what left that are wrong', 'VOLUME', changedSums({ volumeMicro: 1 })],
    ['fees of what left that are wrong', 'FEES', changedSums({ yesFeeMicro: 1 })],
    ['a place of what left that is too late', 'MATCH', changedSums({ tradeMs: LATER_MS })],
    ['a place of what left that is too early', 'FILL_CHAIN', changedSums({ tradeMs: 1, sequence: 1 })],
    [
      'a match that was lost without leaving',
      'FILL_CHAIN',
      async () => {
        const trades = exchange.keys.trades(market.terms.id);
        const [first] = await exchange.redis.xrange(trades, '-', '+', 'COUNT', 1);
        await exchange.redis.xdel(trades, first?.[0] ?? '');
      },
    ],
    [
      'a list that names a settlement that left',
      'SETTLEMENT_LIST',
      () => {
        const { redis, keys } = exchange;
        return redis.xadd(keys.settlementList, '*', 'n', Buffer.from(`${market.terms.id}000000\0`, 'latin1'));
      },
    ],
  ];

  test.each(faults)(
    '%s: the audit names it',
    async (_, kind, spoil) => {
      const { redis, keys } = exchange;
      const spoilt = [keys.market(market.terms.id), keys.trades(market.terms.id), keys.settlementList];
      const before = await Promise.all(spoilt.map((key) => redis.dumpBuffer(key)));
      await spoil();
      const found = await differences();
      for (const [i, key] of spoilt.entries()) await redis.restore(key, '0', before[i] as Buffer, 'REPLACE');
      expect(found.map((one) => one.kind)).toContain(kind);
      expect(await differences()).toEqual([]);
    },
    LIMIT_MS,
  );
});
