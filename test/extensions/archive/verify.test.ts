import { Client } from 'pg';
import type { Market } from '../../../src/exchange/facts';
import { chainScale } from '../../../src/exchange/order';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { type VerifyKind, verifyArchive } from '../../../src/extensions/archive/verify/verify';
import type { RunningRedis } from '../../../src/local/redis';
import { FORGOTTEN, LEFT, MATCH_FILL, MATCH_HEAD } from '../../../src/store/records/layout';
import { addressBytes } from '../../../src/store/records/order';
import { createShell } from '../../cli/shell';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { leaveAll } from './leaving';

/** The check of an archive, and of what of it Redis knows; and the faults that it must name. */
const LIMIT_MS = 120_000;
/** After every month of the test. */
const LATER_MS = Date.UTC(2100, 0);
type Row = Record<string, Buffer | string | number>;

describeWithPostgres('the check of an archive', () => {
  let postgres: TestPostgres;
  let server: RunningRedis;
  let exchange: Auditing;
  let archive: Archive;
  let database: Client;
  let market: Market;

  beforeAll(async () => {
    [postgres, server] = await Promise.all([startTestPostgres(), startTestRedis()]);
    exchange = openAuditing(server.url);
    archive = createArchive({ url: postgres.url });
    database = new Client(postgres.url);
    await database.connect();
    market = await exchange.liveMarket(0);
    await exchange.liveMarket(250);
    await exchange.endedMarket(1);
  }, LIMIT_MS);
  afterAll(async () => {
    await database?.end();
    await archive?.close();
    exchange?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  const verified = () => verifyArchive({ ...exchange, archive, scale: chainScale(18) });
  /** Carla's order rests, and is met once before and once after the first part of its market has left. */
  async function meet(): Promise<void> {
    const [, , carla = '', dora = ''] = exchange.wallets;
    await exchange.place(market, carla, 0, 0, 5_000, 2_000);
    await exchange.place(market, dora, 0, 1, 5_000, 10);
  }

  test(
    'both stores fit together while a part of everything has left, and when all has',
    async () => {
      const [, , , dora = ''] = exchange.wallets;
      await meet();
      const gone = await leaveAll(exchange, archive);
      expect([gone.orders > 5, gone.matches > 4, gone.lines > 10]).toEqual([true, true, true]);
      for (const _ of [1, 2]) {
        const { problems, ...rows } = await verified();
        expect(problems).toEqual([]);
        const { orders, matches, settlements, lines } = await archive.size();
        expect(rows).toEqual({ orders, matches, settlements, lines });
        expect((await exchange.audit()).differences).toEqual([]);
        await exchange.place(market, dora, 0, 1, 5_000, 10);
        await exchange.settle();
        expect(await exchange.redis.xlen(exchange.keys.trades(market.terms.id))).toBe(1);
        expect((await verified()).problems).toEqual([]);
        expect((await exchange.audit()).differences).toEqual([]);
        await meet();
        await leaveAll(exchange, archive);
      }
    },
    LIMIT_MS,
  );

  test(
    'exchange audit --archive and exchange archive verify read both stores',
    async () => {
      const shell = createShell(server.url, { ARCHIVE_URL: postgres.url });
      const { matches } = await archive.size();
      expect(await shell.json('audit', '--archive')).toMatchObject({ ok: true, archived: { matches } });
      expect(await shell.json('archive', 'verify')).toMatchObject({ ok: true, matches, problems: [] });
    },
    LIMIT_MS,
  );

  /** Takes rows away, or changes them; the returned function puts them back. */
  async function spoilRows(table: string, where: string, change?: (row: Row) => Row) {
    const insert = async (row: Row): Promise<void> => {
      const names = Object.keys(row);
      const places = names.map((_, i) => `$${i + 1}`);
      await database.query(`insert into ${table} (${names}) values (${places})`, Object.values(row));
    };
    const { rows } = await database.query(`delete from ${table} where ${where} returning *`);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of change ? rows : []) await insert(change?.(row) ?? row);
    return async () => {
      if (change) await database.query(`delete from ${table} where ${where}`);
      for (const row of rows) await insert(row);
    };
  }
  /** Changes a field of a hash of Redis; the returned function puts it back. */
  async function spoilField(key: string, field: string | Buffer, change: (packed: Buffer) => Buffer) {
    const before = (await exchange.redis.hgetBuffer(key, field)) as Buffer;
    await exchange.redis.hset(key, field, change(Buffer.from(before)));
    return () => exchange.redis.hset(key, field, before);
  }
  const first = (table: string, by: string): string =>
    `(market, ${by}) = (select market, ${by} from ${table} where market = '${market.terms.id}' order by ${by} limit 1)`;
  const left =
    (change: (sums: ReturnType<typeof LEFT.read>) => Partial<ReturnType<typeof LEFT.read>>) => () =>
      spoilField(exchange.keys.market(market.terms.id), 'f', (packed) => {
        const sums = LEFT.read(packed);
        return LEFT.pack({ ...sums, ...change(sums) });
      });
  const carla = (): Buffer => addressBytes(exchange.wallets[2] ?? '');

  const faults: readonly [string, VerifyKind, () => Promise<() => Promise<unknown>>][] = [
    [
      'a match that is missing in the archive',
      'FILLS',
      () => spoilRows('archive_matches', first('archive_matches', 'sequence')),
    ],
    [
      'a fill that was changed in the archive',
      'FILLS',
      () =>
        spoilRows('archive_matches', first('archive_matches', 'sequence'), (row) => {
          const packed = Buffer.from(row.packed as Buffer);
          packed.writeUIntBE(77, MATCH_HEAD.bytes + MATCH_FILL.at.sizeLots, 6);
          return { ...row, packed };
        }),
    ],
    [
      'an order that is missing in the archive',
      'MATCH',
      () => spoilRows('archive_orders', first('archive_orders', 'rank')),
    ],
    [
      'an order that is filed under another wallet',
      'ORDER_RECORD',
      () =>
        spoilRows('archive_orders', first('archive_orders', 'rank'), (row) => ({
          ...row,
          wallet: Buffer.alloc(20, 7),
        })),
    ],
    [
      'a settlement that is missing in the archive',
      'SETTLEMENT_MISSING',
      () => spoilRows('archive_settlements', first('archive_settlements', 'sequence')),
    ],
    [
      'a settlement of another amount',
      'SETTLEMENT_RECORD',
      () =>
        spoilRows('archive_settlements', first('archive_settlements', 'sequence'), (row) => {
          const record = Buffer.from(row.record as Buffer);
          record[record.length - 2] = (record.at(-2) ?? 0) + 1;
          return { ...row, record };
        }),
    ],
    [
      'a line of a journal that is missing in the archive',
      'JOURNAL_LINE',
      () => spoilRows('archive_journal', `entry = 1 and wallet = '\\x${carla().toString('hex')}'`),
    ],
    [
      'a number of matches that left that is one too high',
      'ARCHIVE_ROWS',
      left(({ matches }) => ({ matches: matches + 1 })),
    ],
    [
      'a volume that left that is one too high',
      'VOLUME',
      left(({ volumeMicro }) => ({ volumeMicro: volumeMicro + 1 })),
    ],
    ['fees that left that are one too high', 'FEES', left(({ feeMicro }) => ({ feeMicro: feeMicro + 1 }))],
    [
      'a last price that left that is another',
      'LAST_TRADE',
      left(({ lastPips }) => ({ lastPips: lastPips + 1 })),
    ],
    [
      'a wallet with more orders that left than are in the archive',
      'ARCHIVE_ROWS',
      () =>
        spoilField(exchange.keys.forgotten, carla(), (packed) => {
          const gone = FORGOTTEN.read(packed);
          return FORGOTTEN.pack({ ...gone, orders: gone.orders + 1 });
        }),
    ],
  ];

  test.each(faults)(
    '%s is named',
    async (_, kind, spoil) => {
      const repair = await spoil();
      const { problems } = await verified();
      await repair();
      expect(problems.map((one) => one.kind)).toContain(kind);
      expect((await verified()).problems).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'an order that trades between the reading of its matches and that of its record is no difference',
    async () => {
      const { redis, keys, wallets } = exchange;
      await meet();
      let trades = 0;
      const trading = new Proxy(redis, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          return async (...args: unknown[]) => {
            if (name === 'hmgetBuffer' && args[0] === keys.orders && trades++ < 3)
              await exchange.place(market, wallets[3] ?? '', 0, 1, 5_000, 10);
            return member.apply(target, args);
          };
        },
      });
      const report = await verifyArchive({ redis: trading, keys, archive, scale: chainScale(18) });
      expect([report.problems, trades > 0]).toEqual([[], true]);
    },
    LIMIT_MS,
  );

  test(
    'rows that were dropped for their age are not missed, also by an order whose later matches are in Redis',
    async () => {
      await meet();
      await exchange.settle();
      expect(await archive.dropBefore(LATER_MS)).toBeGreaterThan(10);
      expect(await verified()).toEqual({ orders: 0, matches: 0, settlements: 0, lines: 0, problems: [] });
      expect((await exchange.audit()).differences).toEqual([]);
    },
    LIMIT_MS,
  );
});
