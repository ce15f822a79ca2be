import { randomBytes } from 'node:crypto';
import { Client, type PoolClient } from 'pg';
import { type Archive, type Batch, NOTHING } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createConnection } from '../../../src/extensions/archive/postgres/connection';
import { inTransaction, monthOf } from '../../../src/extensions/archive/postgres/schema';
import type { ArchivedMatch, ArchivedOrder } from '../../../src/store/lists/archived-reads';
import type { WalletPlace } from '../../../src/store/lists/places';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { until } from '../../support/waiting';

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

const of = (orders: readonly ArchivedOrder[]): Batch => ({ ...NOTHING, orders });

test('a month begins with its first millisecond', () => {
  expect(monthOf(JANUARY).name).toBe('2026_01');
  expect(monthOf(JANUARY + 1).name).toBe('2026_02');
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
    // The store asks for orders only of an archive that was opened, so one without tables has lost them.
    await expect(archive.orders([randomBytes(32)])).rejects.toThrow('the archive did not respond');
    await expect(archive.ofWallet(ALICE, null, 10)).rejects.toThrow('the archive did not respond');
    const other = createArchive({ url: postgres.url });
    const [one, two] = await Promise.all([archive.open(), other.open()]);
    expect(one).toEqual(two);
    expect(one.batch).toBe(0);
    await other.close();
    await archive.open();
  });

  test('a process neither adds nor deletes batches once another one has opened the archive', async () => {
    const late = createArchive({ url: postgres.url });
    expect([await late.append(1, of([order(JANUARY)])), await late.cutBack(0)]).toEqual([false, null]);
    await late.open();
    await archive.open();
    // The batch of the new holder has left Redis: an old holder that goes on now would lose it.
    const row = order(JANUARY);
    expect(await archive.append(1, of([row]))).toBe(true);
    expect([await late.cutBack(0), await late.append(2, NOTHING)]).toEqual([null, false]);
    expect(await archive.orders([row.hash])).toEqual([row]);
    expect(await archive.cutBack(0)).toBe(1);
    await late.close();
  });

  test('a process that stopped within a transaction holds up the next one for a time only', async () => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const show = () => client.query('show idle_in_transaction_session_timeout');
    const { rows } = await inTransaction(client as unknown as PoolClient, show);
    await client.end();
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '30s' }]);
  });

  test(
    'a month gets its tables while a long read such as that of pg_dump goes on',
    async () => {
      const dump = new Client({ connectionString: postgres.url });
      await dump.connect();
      try {
        await dump.query('begin; lock table archive_orders, archive_journal in access share mode');
        const row = order(Date.UTC(2027, 5));
        expect(await archive.append(1, of([row]))).toBe(true);
        expect(await archive.orders([row.hash])).toEqual([row]);
        // A month is dropped later, and no reader waits for that.
        await expect(archive.dropBefore(Date.UTC(2027, 6))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
        expect(await archive.orders([row.hash])).toEqual([row]);
      } finally {
        await dump.end();
      }
      expect(await archive.cutBack(0)).toBe(1);
    },
    LIMIT_MS,
  );

  test('a batch is added whole, once, and only behind the one before; what comes again replaces what was there', async () => {
    const rows = [order(JANUARY), order(JANUARY + 1)];
    expect(await archive.append(2, of(rows))).toBe(false);
    expect(await archive.append(1, of(rows))).toBe(true);
    expect(await archive.append(1, of([order(JANUARY)]))).toBe(false);
    const [first] = rows;
    const changed = { ...(first as ArchivedOrder), record: randomBytes(10) };
    const added = order(JANUARY);
    expect(await archive.append(2, of([added, changed]))).toBe(true);
    expect(await archive.orders([changed.hash])).toEqual([changed]);
    expect(await archive.orders([added.hash])).toEqual([added]);
    expect((await archive.size()).orders).toBe(3);
    expect(await archive.cutBack(2)).toBe(0);
    expect(await archive.cutBack(1)).toBe(2);
    expect([(await archive.state())?.batch, (await archive.size()).orders]).toEqual([1, 1]);
  });

  test('the pages of a wallet are its orders, newest first, none twice and none missed, also where ranks are equal', async () => {
    const wallet = randomBytes(20);
    const rows = Array.from({ length: 50 }, (_, i) => order(JANUARY + Math.floor(i / 5), wallet));
    const { batch } = (await archive.state()) ?? { batch: 0 };
    expect(await archive.append(batch + 1, of(rows))).toBe(true);
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

  test('matches, their orders, settlements and lines of journals are found by every way they are asked for', async () => {
    const [market, other] = ['market07', 'market08'];
    const [taker, maker] = [randomBytes(32), randomBytes(32)];
    const at = [0, 1, 2].map((i) => ({ tradeMs: JANUARY + Math.floor(i / 2), sequence: 5 + i }));
    const matches = at.map((place, i) => ({
      ...place,
      marketId: market,
      packed: randomBytes(40),
      orders: i === 1 ? [maker] : [taker, maker],
    }));
    const settlements = at.map(({ sequence }, i) => ({
      marketId: i === 2 ? other : market,
      sequence,
      part: 0,
      listMs: JANUARY + i,
      listIndex: i,
      record: randomBytes(60),
    }));
    const lines = at.map(({ tradeMs }, entry) => ({
      wallet: ALICE,
      entry,
      atMs: tradeMs,
      line: randomBytes(21),
    }));
    const { batch } = (await archive.state()) ?? { batch: 0 };
    expect(await archive.append(batch + 1, { ...NOTHING, matches, settlements, lines })).toBe(true);
    const rows = matches.map(({ orders: _, ...match }) => match);
    const [first, second, third] = rows as [ArchivedMatch, ArchivedMatch, ArchivedMatch];
    expect(await archive.matches([third, { ...first, marketId: other }])).toEqual([third]);
    const whole = { from: first, to: third, descending: false, most: 10 };
    expect(await archive.matchesOf(market, whole)).toEqual(rows);
    expect(await archive.matchesOf(market, { ...whole, from: second, descending: true })).toEqual([
      third,
      second,
    ]);
    expect(await archive.matchesOf(market, { ...whole, to: second, most: 1 })).toEqual([first]);
    const asked = [
      { hash: maker, upTo: third },
      { hash: randomBytes(32), upTo: third },
      { hash: taker, upTo: third },
      { hash: maker, upTo: second },
    ];
    expect(await archive.matchesOfOrders(asked, 2)).toEqual([
      [third, second],
      [],
      [third, first],
      [second, first],
    ]);
    expect(await archive.matchesOfOrders(asked.slice(0, 1), 9)).toEqual([[third, second, first]]);
    expect(await archive.matchesOfOrders([], 9)).toEqual([]);
    const [a, b, c] = settlements;
    expect(await archive.settlements([{ marketId: market, sequence: 6, part: 0 }])).toEqual([b]);
    const list = {
      from: { listMs: JANUARY, listIndex: 0 },
      to: { listMs: JANUARY + 2, listIndex: 1 },
      descending: true,
      most: 10,
    };
    expect(await archive.settlementsOf(null, list)).toEqual([b, a]);
    expect(
      await archive.settlementsOf(other, { ...list, to: { listMs: JANUARY + 2, listIndex: 2 } }),
    ).toEqual([c]);
    expect(await archive.lines(ALICE, 1, 5)).toEqual(lines.slice(1));
    const { bytes, ...counted } = await archive.size();
    expect(counted).toMatchObject({ matches: 3, settlements: 3, lines: 3 });
    expect(bytes).toBeGreaterThan(0);
    expect(await archive.cutBack(batch)).toBe(3 + 5 + 3 + 3);
  });

  test('a line of a journal that was replaced before it left is found once, as it left', async () => {
    const wallet = randomBytes(20);
    const line = (entry: number, atMs: number) => ({ wallet, entry, atMs, line: randomBytes(21) });
    const { batch } = (await archive.state()) ?? { batch: 0 };
    const [replaced, left, next] = [line(0, JANUARY + 5), line(0, JANUARY), line(1, JANUARY + 5)] as const;
    expect(await archive.append(batch + 1, { ...NOTHING, lines: [replaced] })).toBe(true);
    expect(await archive.append(batch + 2, { ...NOTHING, lines: [left, next] })).toBe(true);
    expect(await archive.lines(wallet, 0, 9)).toEqual([left, next]);
    expect(await archive.cutBack(batch)).toBe(3);
  });

  test('parts of a market are found by their names, and from a place on', async () => {
    const parts = [10, 20, 30].map((at) => ({
      marketId: 'market07',
      part: 'k60',
      atMs: JANUARY,
      name: Buffer.from([0, at]),
      value: randomBytes(64),
    }));
    const { batch } = (await archive.state()) ?? { batch: 0 };
    expect(await archive.append(batch + 1, { ...NOTHING, parts })).toBe(true);
    const from = (at: number, most = 9) => archive.partsFrom('market07', 'k60', Buffer.from([0, at]), most);
    expect(await from(0)).toEqual(parts);
    expect(await from(20)).toEqual(parts.slice(1));
    expect(await from(29, 1)).toEqual(parts.slice(1, 2));
    expect(await from(99)).toEqual(parts.slice(2));
    expect(await archive.partsFrom('market07', 'k1800', Buffer.from([0]), 9)).toEqual([]);
    const [first] = parts;
    expect(await archive.parts('market07', 'k60', [Buffer.from([0, 10]), Buffer.from([7])])).toEqual([first]);
    expect(await archive.cutBack(batch)).toBe(3);
  });

  test('months that are over are dropped whole and counted, also behind a process that has made them', async () => {
    const { batch } = (await archive.state()) ?? { batch: 0 };
    const [old, young] = [order(JANUARY), order(JANUARY + 1)];
    expect(await archive.append(batch + 1, of([old, young]))).toBe(true);
    const before = await archive.size();
    const other = createArchive({ url: postgres.url });
    expect(await other.dropBefore(JANUARY)).toBe(0);
    expect((await archive.state())?.droppedMs).toBe(0);
    const gone = await other.dropBefore(JANUARY + 1);
    await other.close();
    expect(await archive.orders([old.hash, young.hash])).toEqual([young]);
    const after = await archive.size();
    const state = await archive.state();
    expect([state?.droppedMs, before.orders - after.orders]).toEqual([JANUARY + 1, gone]);
    expect(state?.dropped.orders).toBe(gone);
    // An order of such a month that ends now has a place again, until the next time.
    const late = of([order(JANUARY)]);
    await expect(archive.append(batch + 2, late)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await archive.append(batch + 2, late)).toBe(true);
    expect(await archive.dropBefore(JANUARY + 1)).toBe(1);
  });

  test(
    'an archive that was killed is UNAVAILABLE, and has what it took when it is back',
    async () => {
      const row = order(JANUARY);
      const { batch } = (await archive.state()) ?? { batch: 0 };
      expect(await archive.append(batch + 1, of([row]))).toBe(true);
      await postgres.kill();
      for (const act of [
        () => archive.orders([row.hash]),
        () => archive.append(batch + 2, of([row])),
        archive.state,
      ])
        await expect(act()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await postgres.revive();
      await until('the archive answers', () => archive.state().then(Boolean, () => false));
      expect(await archive.orders([row.hash])).toEqual([row]);
    },
    LIMIT_MS,
  );

  test(
    'a PostgreSQL that is killed in the middle of a transaction is UNAVAILABLE, and the process goes on',
    async () => {
      const told: string[] = [];
      const connection = createConnection({
        url: postgres.url,
        onError: ({ message }) => told.push(message),
      });
      const lost = connection.withClient(async (client) => {
        await client.query('begin');
        await postgres.kill();
        await until('the connection has ended', () => told.length > 0);
        await client.query('commit');
      });
      await expect(lost).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await postgres.revive();
      await connection.close();
    },
    LIMIT_MS,
  );
});
