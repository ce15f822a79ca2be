import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import type { RunningRedis } from '../../../src/local/redis';
import { hashBytes } from '../../../src/store/records/order';
import { createShell, type Said } from '../../cli/shell';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';

/** Copies of both stores, put back with the command line: those that fit, and those that do not. */
const LIMIT_MS = 240_000;
const TOKEN = 'the test';
const LEASE_MS = 600_000;

describeWithPostgres('a backup of an exchange with an archive', () => {
  let postgres: TestPostgres;
  let [source, target]: RunningRedis[] = [];
  let exchange: Auditing;
  let folder: string;
  const file = (name: string): string => path.join(folder, name);
  const database = (name: string): string => postgres.url.replace(/[^/]+$/, name);

  beforeAll(async () => {
    postgres = await startTestPostgres();
    [source, target] = [await startTestRedis(), await startTestRedis()];
    exchange = openAuditing(source.url);
    folder = mkdtempSync(path.join(tmpdir(), 'exchange-archive-backup-'));
  }, LIMIT_MS);
  afterAll(async () => {
    exchange?.stop();
    await Promise.all([source?.stop(), target?.stop(), postgres?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** A copy of the archive as it is now; nothing may be connected to it. */
  async function copyTo(name: string): Promise<void> {
    const client = new Client({ connectionString: database('template1') });
    await client.connect();
    await client.query(`create database ${name} template postgres`);
    await client.end();
  }

  async function withArchive<T>(url: string, use: (archive: Archive) => Promise<T>): Promise<T> {
    const archive = createArchive({ url });
    try {
      return await use(archive);
    } finally {
      await archive.close();
    }
  }

  /** An order that was cancelled and has left Redis, as the next batch. */
  const left = (): Promise<Buffer> =>
    withArchive(postgres.url, async (archive) => {
      const { redis, run, keys, engine, wallets } = exchange;
      const [wallet = ''] = wallets;
      const [market] = exchange.known.values();
      if (!market) throw new Error('no market');
      const { orderHash } = await exchange.place(market, wallet, 0, 0, 1_000, 10);
      await engine.cancel(market.terms.id, wallet, orderHash, 'USER');
      const hash = hashBytes(orderHash);
      const forgetting = createForgetting({ redis, run, keys, archive, keepMs: 0 });
      await forgetting.lease.take(TOKEN, LEASE_MS);
      await forgetting.open();
      const packed = (await redis.hgetBuffer(keys.orders, hash)) as Buffer;
      expect(await forgetting.move(TOKEN, { orders: [{ hash, packed }] })).toMatchObject({ orders: 1 });
      await forgetting.lease.release(TOKEN);
      return hash;
    });

  const restore = (url: string | undefined, name: string, ...words: string[]): Promise<Said> =>
    createShell(target?.url ?? '', url ? { ARCHIVE_URL: url } : {}).exchange(
      ...['restore', file(name), '--force', '--yes', ...words],
    );

  test(
    'it is put back with an archive that has all that had left Redis, and with no other',
    async () => {
      await exchange.liveMarket(30);
      const own = createShell(source?.url ?? '', { ARCHIVE_URL: postgres.url });
      expect((await own.exchange('backup', file('early'), '--halt')).out).not.toMatch(/needs the archive/);
      const first = await left();
      await copyTo('older');
      const second = await left();
      const { archive: mark } = await own.json('backup', file('later'), '--halt');
      const state = await withArchive(postgres.url, (archive) => archive.state());
      expect(mark).toEqual({ id: state?.id, batch: 2 });
      const third = await left();

      expect((await restore(undefined, 'early')).code).toBe(0);
      const refusals: readonly [string | undefined, string, RegExp][] = [
        [undefined, 'later', /set ARCHIVE_URL to it/],
        [database('older'), 'later', /ends with batch 1, and records of batch 2 had left/],
        [postgres.url, 'early', /before anything was archived/],
      ];
      for (const [url, name, why] of refusals) {
        const { code, err } = await restore(url, name);
        expect([code, err]).toEqual([3, expect.stringMatching(why)]);
      }
      // A refusal deletes nothing: the exchange that was put back first is there.
      expect((await createShell(target?.url ?? '').exchange('audit')).code).toBe(0);

      const restored = await restore(postgres.url, 'later');
      expect([restored.code, restored.err]).toEqual([0, '']);
      expect(restored.out).toMatch(/1 rows of the archive were newer than the backup/);
      await withArchive(postgres.url, async (archive) => {
        expect((await archive.state())?.batch).toBe(2);
        const found = (await archive.orders([first, second, third])).map(({ hash }) => hash.toString('hex'));
        expect(found.sort()).toEqual([first, second].map((hash) => hash.toString('hex')).sort());
      });
      const again = createShell(target?.url ?? '', { ARCHIVE_URL: postgres.url });
      expect((await again.json('archive', 'verify')).problems).toEqual([]);
      const status = await again.json('archive', 'status');
      expect(status).toMatchObject({
        left: { orders: 2 },
        orders: 2,
        archiveBatch: 2,
        droppedMs: 0,
        heldMs: null,
      });
      const { checks } = await again.json('doctor');
      const told = checks.filter(({ name }: { name: string }) => /archive|postgresql/.test(name));
      // A PostgreSQL of the tests does not wait for its disk.
      expect(told).toMatchObject([
        { name: 'archive', verdict: 'ok' },
        { name: 'postgresql', verdict: 'warn', detail: expect.stringMatching(/fsync/) },
      ]);
    },
    LIMIT_MS,
  );

  test(
    'it is put back without what the archive lacks when the operator says so, and the doctor names it',
    async () => {
      expect((await restore(database('older'), 'later', '--incomplete')).code).toBe(0);
      const shell = createShell(target?.url ?? '', { ARCHIVE_URL: database('older') });
      const { checks } = await shell.json('doctor');
      const [found] = checks.filter(({ name }: { name: string }) => name === 'archive');
      expect(found).toMatchObject({ verdict: 'fail', detail: expect.stringMatching(/ends with batch 1/) });
    },
    LIMIT_MS,
  );

  test(
    'it is not put back with the archive of another exchange',
    async () => {
      const client = new Client({ connectionString: database('template1') });
      await client.connect();
      await client.query('create database other');
      await client.end();
      expect((await restore(database('other'), 'later')).err).toMatch(/names an empty one/);
      await withArchive(database('other'), (archive) => archive.open());
      expect((await restore(database('other'), 'later')).err).toMatch(/names the archive [0-9a-f-]{36}/);
    },
    LIMIT_MS,
  );
});
