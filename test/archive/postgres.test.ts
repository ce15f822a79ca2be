import { randomBytes } from 'node:crypto';
import { createArchive } from '../../src/archive/archive';
import { monthOf } from '../../src/archive/schema';
import type { Archive, ArchivedOrder, WalletPlace } from '../../src/exchange/archive';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../support/postgres';
import { until } from '../support/waiting';

const LIMIT_MS = 120_000;
const JANUARY = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
const ALICE = randomBytes(20);

const order = (ms: number, wallet = ALICE, more: Partial<ArchivedOrder> = {}): ArchivedOrder => ({
  hash: randomBytes(32),
  wallet,
  rank: ms * 1_000 + 7,
  marketId: 'market00',
  record: randomBytes(250),
  ...more,
});

test('a month begins with its first millisecond', () => {
  expect(monthOf(JANUARY * 1_000 + 999).table).toBe('archive_orders_2026_01');
  expect(monthOf((JANUARY + 1) * 1_000).table).toBe('archive_orders_2026_02');
});

describeWithPostgres('the archive in PostgreSQL', () => {
  let postgres: TestPostgres;
  let archive: Archive;
  beforeAll(async () => {
    postgres = await startTestPostgres();
    archive = createArchive({ url: postgres.url });
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    await postgres?.stop();
  });

  test('an archive that was not opened is empty; two processes that open it at once find one', async () => {
    expect(await archive.state()).toBeNull();
    expect(await archive.orders([randomBytes(32)])).toEqual([]);
    expect(await archive.ofWallet(ALICE, null, 10)).toEqual([]);
    const other = createArchive({ url: postgres.url });
    const [one, two] = await Promise.all([archive.open(), other.open()]);
    expect(one).toEqual(two);
    expect(one.batch).toBe(0);
    await other.close();
  });

  test('a batch is added whole, once, and only behind the one before; what comes again replaces what was there', async () => {
    const rows = [order(JANUARY), order(JANUARY + 1)];
    expect(await archive.append(2, rows)).toBe(false);
    expect(await archive.append(1, rows)).toBe(true);
    expect(await archive.append(1, [order(JANUARY)])).toBe(false);
    const [first] = rows;
    const changed = { ...(first as ArchivedOrder), record: randomBytes(10) };
    expect(await archive.append(2, [changed])).toBe(true);
    expect(await archive.orders([changed.hash])).toEqual([changed]);
    expect((await archive.size()).orders).toBe(2);
    expect(await archive.cutBack(2)).toBe(0);
    expect(await archive.cutBack(1)).toBe(1);
    expect([(await archive.state())?.batch, (await archive.size()).orders]).toEqual([1, 1]);
  });

  test('the pages of a wallet are its orders, newest first, none twice and none missed, also where ranks are equal', async () => {
    const wallet = randomBytes(20);
    const rows = Array.from({ length: 50 }, (_, i) => order(JANUARY + Math.floor(i / 5), wallet));
    const { batch } = (await archive.state()) ?? { batch: 0 };
    expect(await archive.append(batch + 1, rows)).toBe(true);
    const found: ArchivedOrder[] = [];
    for (let behind: WalletPlace | null = null; ; behind = found.at(-1) ?? null) {
      const page = await archive.ofWallet(wallet, behind, 7);
      found.push(...page);
      if (page.length < 7) break;
    }
    const expected = [...rows].sort((a, b) => b.rank - a.rank || Buffer.compare(a.hash, b.hash));
    expect(found.map(({ hash }) => hash.toString('hex'))).toEqual(
      expected.map(({ hash }) => hash.toString('hex')),
    );
  });

  test(
    'an archive that was killed is UNAVAILABLE, and has what it took when it is back',
    async () => {
      const row = order(JANUARY);
      const { batch } = (await archive.state()) ?? { batch: 0 };
      expect(await archive.append(batch + 1, [row])).toBe(true);
      await postgres.kill();
      for (const act of [
        () => archive.orders([row.hash]),
        () => archive.append(batch + 2, [row]),
        archive.state,
      ])
        await expect(act()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await postgres.revive();
      await until('the archive answers', () => archive.state().then(Boolean, () => false));
      expect(await archive.orders([row.hash])).toEqual([row]);
    },
    LIMIT_MS,
  );
});
