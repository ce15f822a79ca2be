import { Client } from 'pg';
import type { Market } from '../../../src/exchange/facts';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import type { RunningRedis } from '../../../src/local/redis';
import { FORGOTTEN } from '../../../src/store/records/layout';
import { addressBytes } from '../../../src/store/records/order';
import { createShell } from '../../cli/shell';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { openJournals, pagesOf } from './journals';
import { leaveAll } from './leaving';

/** Journals are corrected of which a part is in Redis and the older part in the archive. */
const LIMIT_MS = 120_000;
const ALL = { limit: 20 } as const;

describeWithPostgres('the correction of journals with an archive', () => {
  let postgres: TestPostgres;
  let server: RunningRedis;
  let exchange: Auditing;
  let archive: Archive;
  let database: Client;
  let journals: ReturnType<typeof openJournals>;
  let market: Market;

  beforeAll(async () => {
    [postgres, server] = await Promise.all([startTestPostgres(), startTestRedis()]);
    exchange = openAuditing(server.url);
    archive = createArchive({ url: postgres.url });
    database = new Client(postgres.url);
    await database.connect();
    market = await exchange.liveMarket(0);
    await exchange.liveMarket(250);
    for (const outcome of [1, null] as const) await exchange.endedMarket(outcome);
    const [, , carla = ''] = exchange.wallets;
    // This order is met before and after its market's first matches leave.
    await exchange.place(market, carla, 0, 0, 5_000, 2_000);
    await meet();
    await leaveAll(exchange, archive);
    await meet();
    await exchange.settle();
    journals = openJournals(exchange, archive);
    await journals.journal.catchUp();
  }, LIMIT_MS);
  afterAll(async () => {
    await database?.end();
    await archive?.close();
    exchange?.stop();
    await server?.stop();
    await postgres?.stop();
  });

  const meet = () => exchange.place(market, exchange.wallets[3] ?? '', 0, 1, 5_000, 10);
  const raw = (at: number): Buffer => addressBytes(exchange.wallets[at] ?? '');
  const left = async (wallet: Buffer): Promise<number> => {
    const packed = await exchange.redis.hgetBuffer(exchange.keys.forgotten, wallet);
    return packed ? FORGOTTEN.get.lines(packed) : 0;
  };
  async function books() {
    const { redis, keys, wallets } = exchange;
    return Promise.all(
      wallets.map(async (wallet) => [
        await pagesOf(journals.reads, wallet, ALL),
        await redis.hgetallBuffer(keys.positions(addressBytes(wallet))),
      ]),
    );
  }

  test(
    'correct journals do not change, and what was lost in Redis comes back',
    async () => {
      const { redis, keys, wallets } = exchange;
      const before = await books();
      for (const wallet of await journals.rebuild.wallets())
        expect(await journals.rebuild.rebuild(wallet)).toBe(false);
      expect(await books()).toEqual(before);
      const list = keys.journal(raw(2));
      expect([(await left(raw(2))) > 3, await redis.llen(list)]).toEqual([true, 1]);
      await redis.del(list, keys.positions(raw(2)), keys.positions(raw(0)));
      for (const wallet of wallets.slice(0, 3))
        expect(await journals.rebuild.rebuild(wallet)).toBe(wallet !== wallets[1]);
      expect(await books()).toEqual(before);
    },
    LIMIT_MS,
  );

  test(
    'a line in Redis that the archive has, too, is deleted, also when it is the only one',
    async () => {
      const { redis, keys, wallets } = exchange;
      const before = await books();
      const [, bob = ''] = wallets;
      const [line] = await archive.lines(raw(1), 0, 0);
      expect([await redis.llen(keys.journal(raw(1))), line !== undefined]).toEqual([0, true]);
      await redis.rpush(keys.journal(raw(1)), line?.line ?? '');
      expect(await journals.rebuild.rebuild(bob)).toBe(true);
      expect(await redis.exists(keys.journal(raw(1)))).toBe(0);
      expect(await books()).toEqual(before);
    },
    LIMIT_MS,
  );

  test(
    'the archived part is not rewritten: a wallet whose part is wrong is named and left as it is, the others are put right',
    async () => {
      const { redis, keys, wallets } = exchange;
      const [, , carla = '', dora = ''] = wallets;
      const before = await books();
      const where = `entry = 1 and wallet = '\\x${raw(2).toString('hex')}'`;
      const { rows } = await database.query(`select line from archive_journal where ${where}`);
      const line = Buffer.from(rows[0].line as Buffer);
      line.writeUIntBE(999_999, line.length - 6, 6);
      await database.query(`update archive_journal set line = $1 where ${where}`, [line]);
      await redis.del(keys.positions(raw(2)), keys.positions(raw(3)));
      const shell = createShell(server.url, { ARCHIVE_URL: postgres.url });
      const told = await shell.exchange('journal', 'rebuild', '--json');
      const { repaired, refused } = JSON.parse(told.out);
      expect([told.code, repaired, refused]).toEqual([
        3,
        [dora],
        [{ wallet: carla, why: expect.stringContaining('put back a copy of PostgreSQL') }],
      ]);
      expect(await redis.exists(keys.positions(raw(2)))).toBe(0);
      await database.query(`update archive_journal set line = $1 where ${where}`, [rows[0].line]);
      expect(await journals.rebuild.rebuild(carla)).toBe(true);
      expect(await books()).toEqual(before);
    },
    LIMIT_MS,
  );
});
