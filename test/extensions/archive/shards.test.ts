import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { type CliStore, EXIT, type Run } from '../../../src/cli/store';
import { type Archive, NOTHING } from '../../../src/extensions/archive/archive';
import { archiveBackfill, archiveStatus, archiveVerify } from '../../../src/extensions/archive/cli/archive';
import { startArchiving } from '../../../src/extensions/archive/jobs/archiving';
import { recordArchive } from '../../../src/extensions/archive/open';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createConnection } from '../../../src/extensions/archive/postgres/connection';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { openSource } from '../../../src/extensions/archive/store/source';
import { writeBackup } from '../../../src/extensions/backup/store/backup';
import { restoreBackup } from '../../../src/extensions/backup/store/restore';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import type { RunningRedis } from '../../../src/local/redis';
import { createSpread } from '../../../src/store/outbox/spread';
import { createActions } from '../../../src/store/people/operator-log';
import { addressBytes } from '../../../src/store/records/order';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../../src/store/redis/scripts';
import { openSettling, scale } from '../../jobs/settling';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { READERS } from '../../support/readers';
import { startTestRedis } from '../../support/redis';
import { until } from '../../support/waiting';

const LIMIT_MS = 120_000;
const SHARDS = 2;
const ORDERS = 5;
const both = [0, 1] as const;

describeWithPostgres('the archive of several shards', () => {
  let postgres: TestPostgres;
  let server: RunningRedis;
  let redis: Redis;
  const archives: Archive[] = [];
  const archiveOf = (shard: number): Archive => {
    const archive = createArchive({ url: postgres.url, shard, shards: SHARDS });
    archives.push(archive);
    return archive;
  };
  beforeAll(async () => {
    [postgres, server] = await Promise.all([startTestPostgres(), startTestRedis()]);
    redis = new Redis(server.url);
  }, LIMIT_MS);
  afterAll(async () => {
    await Promise.all(archives.map((archive) => archive.close()));
    redis?.disconnect();
    await Promise.all([postgres?.stop(), server?.stop()]);
  });

  test('each shard has a schema of its own, but the first has that of an exchange with one shard', async () => {
    const paths = both.map(async (shard) => {
      const url = `${postgres.url}?options=${encodeURIComponent('-c statement_timeout=54321')}`;
      const connection = createConnection({ url, shard, shards: SHARDS });
      const [path] = await connection.rows<{ search_path: string }>({ text: 'show search_path', values: [] });
      const [limit] = await connection.rows<{ statement_timeout: string }>({
        text: 'show statement_timeout',
        values: [],
      });
      await connection.close();
      return [path?.search_path, limit?.statement_timeout];
    });
    expect(await Promise.all(paths)).toEqual([
      ['"$user", public', '54321ms'],
      ['shard_1', '54321ms'],
    ]);
    const second = archiveOf(1);
    expect([await second.state(), (await second.facts()).mayCreate]).toEqual([null, true]);
  });

  test('batches, their numbers and what is cut back or dropped are of one shard', async () => {
    const [first, second] = [archiveOf(0), archiveOf(1)];
    const [one, other] = await Promise.all([first.open(), second.open()]);
    expect(one.id).not.toBe(other.id);
    const wallet = randomBytes(20);
    const line = (text: string) => ({
      ...NOTHING,
      lines: [{ wallet, entry: 0, atMs: Date.UTC(2020, 0), line: Buffer.from(text) }],
      settlements: [
        ...[
          { listMs: 7, listIndex: 0, sequence: 1, part: 0, marketId: 'market00', record: Buffer.from(text) },
        ],
      ],
    });
    for (const [i, archive] of [first, second].entries()) {
      expect(await archive.append(1, line(`of ${i}`))).toBe(true);
      expect(await archive.append(2, NOTHING)).toBe(true);
    }
    const lines = (archive: Archive) => archive.lines(wallet, 0, 9);
    const texts = async (archive: Archive) => (await lines(archive)).map((found) => found.line.toString());
    expect([await texts(first), await texts(second)]).toEqual([['of 0'], ['of 1']]);
    expect(await second.cutBack(0)).toBe(2);
    expect([(await first.state())?.batch, (await second.state())?.batch]).toEqual([2, 0]);
    expect([await texts(first), await texts(second)]).toEqual([['of 0'], []]);
    await second.append(1, line('again'));
    expect(await first.dropBefore(Date.UTC(2020, 1))).toBe(2);
    expect([await texts(first), await texts(second)]).toEqual([[], ['again']]);
    expect([(await first.state())?.droppedMs, (await second.state())?.droppedMs]).toEqual([
      Date.UTC(2020, 1),
      0,
    ]);
    // The next test begins with empty archives.
    for (const archive of [first, second]) await archive.cutBack(0);
  });

  test('a backup names the archive and the batch of each shard, and a restore cuts each back to its own', async () => {
    const own = both.map(archiveOf);
    const shards = both.map((shard) => ({ keys: createKeys(shard), archive: own[shard] as Archive }));
    const line = { wallet: randomBytes(20), entry: 0, atMs: Date.UTC(2020, 0), line: Buffer.from('one') };
    // The batches that the archive has, and those that had left Redis when the copy was made.
    const batches = [
      { has: 3, left: 3 },
      { has: 3, left: 1 },
    ];
    for (const [shard, { keys, archive }] of shards.entries()) {
      const { has = 0, left = 0 } = batches[shard] ?? {};
      const { id } = await archive.open();
      for (let batch = 1; batch <= has; batch++)
        await archive.append(batch, { ...NOTHING, lines: [{ ...line, entry: batch }] });
      await redis.hset(keys.archive, { id, n: left });
      await redis.set(keys.mode, '2');
    }
    await redis.hset(createKeys().shardCount, 'count', SHARDS);
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-shards-archive-'));
    try {
      const file = path.join(folder, 'both.backup');
      const run = createScripts(redis, scriptSources());
      const facts = { redis, run, chainId: 1, exchange: '0xaa', now: Date.now };
      const { archives: marks } = await writeBackup({ ...facts, shards }, file);
      expect(marks).toEqual(
        await Promise.all(
          [3, 1].map(async (batch, shard) => ({ id: (await own[shard]?.state())?.id, batch })),
        ),
      );
      const how = { force: true, incomplete: false };
      const swapped = shards.map(({ keys }, shard) => ({ keys, archive: own[1 - shard] as Archive }));
      await expect(restoreBackup({ ...facts, shards: swapped }, file, how)).rejects.toThrow(
        /^the archive of shard 0 does not fit the backup: .* put back the copy of PostgreSQL/,
      );
      expect((await restoreBackup({ ...facts, shards }, file, how)).cut).toBe(2);
      const states = await Promise.all(own.map((archive) => archive.state()));
      expect(states.map((state) => state?.batch)).toEqual([3, 1]);
      expect(await redis.hget(createKeys(1).archive, 'n')).toBe('1');
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await redis.flushall();
      for (const archive of own) await archive.cutBack(0);
    }
  });

  test('orders and journals of both shards leave Redis for their own archive, by a lease for each', async () => {
    const wallet = `0x${'a1'.repeat(20)}`;
    const worlds = await Promise.all(both.map((shard) => openSettling(redis, createKeys(shard))));
    const placed: string[][] = [];
    for (const world of worlds) {
      const market = await world.createMarket();
      const hashes: string[] = [];
      for (let i = 0; i < ORDERS; i++) {
        const { record } = await world.place(market, 0, 4_000, 10, wallet);
        await world.engine.cancel(null, wallet, record.orderHash, 'USER');
        hashes.push(record.orderHash);
      }
      await world.match(market);
      await createJournal(world).catchUp();
      for (const reader of ['broadcast', 'settlement'])
        await redis.hset(world.keys.readers, reader, `${Date.now() + 60_000}-0`);
      placed.push(hashes);
    }
    const own = both.map(archiveOf);
    const forgettings = worlds.map(({ run, keys }, shard) =>
      createForgetting({ redis, run, keys, archive: own[shard] as Archive, keepMs: 0 }),
    );
    const spread = createSpread(SHARDS);
    const failures: string[] = [];
    const running = forgettings.map((forgetting, shard) =>
      startArchiving({
        forgetting: { ...forgetting, lease: spread(forgetting.lease) },
        openSource: () =>
          openSource({
            redis,
            keys: createKeys(shard),
            readers: READERS,
            now: () => Date.now() + 1_000,
            keepMs: 0,
          }),
        onError: ({ message }) => failures.push(message),
        lookMs: 250,
      }),
    );
    try {
      for (const [shard, world] of worlds.entries()) {
        const { keys } = world;
        const archivedReads = createArchivedReads({ redis, keys, archive: own[shard] as Archive });
        const left = async () => (await archivedReads.ofWallet(addressBytes(wallet), null, 100)).length;
        await until(`the orders of shard ${shard} leave`, async () => (await left()) === ORDERS, {
          patienceMs: LIMIT_MS,
          explain: () => failures.join(),
        });
        const found = await archivedReads.ofWallet(addressBytes(wallet), null, 100);
        expect(found.map(({ hash }) => `0x${hash.toString('hex')}`).sort()).toEqual(
          [...(placed[shard] ?? [])].sort(),
        );
        const id = await redis.hget(keys.archive, 'id');
        expect(id).toBe((await own[shard]?.state())?.id);
      }
      const tokens = await Promise.all(both.map((shard) => redis.get(createKeys(shard).archiveLease)));
      expect(new Set(tokens).size).toBe(SHARDS);
    } finally {
      await Promise.all(running.map((one) => one.stop()));
    }
    expect(failures).toEqual([]);

    // The operator's commands read all shards.
    const [first] = worlds as [(typeof worlds)[0], ...unknown[]];
    const partitions = both.map((shard) => {
      const parts = { redis, keys: createKeys(shard), archive: own[shard] as Archive };
      return { keys: parts.keys, archive: recordArchive(parts) };
    });
    const store = {
      ...first,
      redis,
      scale,
      partitions,
      actions: createActions(first),
    } as unknown as CliStore;
    const said: unknown[] = [];
    const say = async (value: unknown) => void said.push(value);
    const run = { store, say } as unknown as Run;
    expect(await archiveStatus(run)).toBe(EXIT.done);
    expect(said.pop()).toEqual({
      shards: both.map(() => expect.objectContaining({ left: expect.objectContaining({ orders: ORDERS }) })),
    });
    expect([await archiveVerify(run), said.pop()]).toEqual([
      EXIT.done,
      expect.objectContaining({ ok: true, orders: SHARDS * ORDERS }),
    ]);
    await redis.hdel(createKeys(1).archive, 'sweep');
    expect(await archiveBackfill(run)).toBe(EXIT.done);
    expect(await redis.hget(createKeys(1).archive, 'sweep')).toBe('1');
    const hash = `\\x${(placed[1]?.[0] ?? '').slice(2)}`;
    const client = createConnection({ url: postgres.url });
    await client.rows({ text: 'delete from shard_1.archive_orders where hash = $1', values: [hash] });
    await client.close();
    expect([await archiveVerify(run), said.pop()]).toEqual([
      EXIT.found,
      expect.objectContaining({
        ok: false,
        problems: both.map(() =>
          expect.objectContaining({ kind: 'ARCHIVE_ROWS', expected: '5', found: '4' }),
        ),
      }),
    ]);
  });
});
