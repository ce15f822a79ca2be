import type { JournalRow } from '../../../../src/extensions/portfolio/store/reads';
import { createRandom, type Random } from '../../../support/random';
import { chooseSeed } from '../../../support/telling';
import { type Both, openBoth, walk } from './both';
import type { TestReading } from './reading';

/** The same random commands on one shard and on four: then positions, journals, settlements, comments and profiles are the same. */
const LIMIT_MS = 600_000;
const seed = chooseSeed('reads of four shards');

let both: Both;
let one: TestReading;
let four: TestReading;
let same: Both['same'];
let marketIds: readonly string[];
let wallets: readonly string[];
let random: Random;
beforeAll(async () => {
  both = await openBoth(seed);
  ({ one, four, same, marketIds, wallets } = both);
}, LIMIT_MS);
beforeEach(() => {
  random = createRandom(seed);
});
afterAll(() => both.stop());

test('positions are the same, page by page', async () => {
  let rows = 0;
  for (const wallet of wallets) {
    for (const filter of [
      {},
      { status: 'open' },
      { status: 'closed' },
      { marketId: marketIds[2] ?? '' },
    ] as const) {
      const limit = random.int(1, 7);
      const pages = await same(({ journal }) =>
        walk(async (cursor) => {
          const { positions, next } = await journal.positions(wallet, filter, { limit, cursor });
          return { rows: positions, next };
        }),
      );
      rows += pages.flat().length;
    }
  }
  expect(rows).toBeGreaterThan(wallets.length);
});

/** Without the id, which is another one over shards. */
const contentOf = ({ id: _, ...row }: JournalRow): string =>
  JSON.stringify(row, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));
const timeOf = (row: JournalRow): number => (row.type === 'TRADE' ? row.side.fill.tradeMs : row.atMs);

test('journals have the same lines in the order of their times, page by page', async () => {
  let rows = 0;
  for (const wallet of wallets) {
    const all = (await one.journal.rows(wallet, {}, { limit: 100_000, cursor: null })).rows;
    const middleMs = timeOf(all[Math.floor(all.length / 2)] as JournalRow);
    for (const filter of [{}, { tradesOnly: true }, { marketId: marketIds[1] ?? '' }] as const) {
      for (const order of ['asc', 'desc'] as const) {
        for (const period of [{}, { sinceMs: middleMs }, { untilMs: middleMs }]) {
          const limit = random.pick([4, 20, 60, 500]);
          const [expected, found] = await Promise.all(
            [one, four].map((reading) =>
              walk((cursor) => reading.journal.rows(wallet, filter, { limit, cursor, order, ...period })),
            ),
          );
          const [pages = [], lines = []] = [found, found?.flat()];
          expect(pages.map((page) => page.length)).toEqual(expected?.map((page) => page.length));
          expect(lines.map(timeOf)).toEqual(expected?.flat().map(timeOf));
          expect(lines.map(contentOf).sort()).toEqual(expected?.flat().map(contentOf).sort());
          expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
          rows += lines.length;
        }
      }
    }
  }
  expect(rows).toBeGreaterThan(50);
});

test('a cursor of a journal means the same in both directions', async () => {
  for (const wallet of wallets) {
    const { journal } = four;
    const limit = random.int(2, 9);
    const page = { limit, cursor: null, order: 'desc' } as const;
    const down = (await journal.rows(wallet, {}, page)).rows.map(contentOf);
    const { next } = await journal.rows(wallet, {}, page);
    if (next === null) continue;
    const up = await walk((cursor) =>
      journal.rows(wallet, {}, { limit: 50, cursor: cursor ?? next, order: 'asc' }),
    );
    // After the last line that was shown, which is not shown again.
    expect(up.flat().map(contentOf).reverse()).toEqual(down.slice(0, -1));
  }
});

test('settlements are the same, and each list is in its order', async () => {
  const keyOf = ({
    createdAtMs: _,
    listId: __,
    ...record
  }: {
    createdAtMs: number;
    listId: string;
  }): string => JSON.stringify(record, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));
  let rows = 0;
  for (const status of [undefined, 'CONFIRMED', 'FAILED', 'RETRYING'] as const) {
    for (const marketId of [undefined, marketIds[0], 'nowhere0']) {
      const limit = random.int(1, 40);
      const [expected = [], found = []] = await Promise.all(
        [one, four].map((reading) =>
          walk(async (cursor) => {
            const page = await reading.settlements.list({ status, marketId }, { limit, cursor });
            for (const { settlement } of page.records)
              if (settlement) expect(page.orders.has(settlement.takerHash)).toBe(true);
            return { rows: page.records, next: page.next };
          }),
        ),
      );
      expect(found.map((page) => page.length)).toEqual(expected.map((page) => page.length));
      const records = found.flat();
      expect(records.map(keyOf).sort()).toEqual(expected.flat().map(keyOf).sort());
      const times = records.map(({ createdAtMs }) => createdAtMs);
      expect(times).toEqual([...times].sort((a, b) => b - a));
      rows += records.length;
      for (const record of records.slice(0, 5))
        expect(keyOf((await four.settlements.find(record)) as never)).toBe(keyOf(record));
    }
  }
  expect(rows).toBeGreaterThan(0);
  await same(async ({ settlements }) => ({ ...(await settlements.counts()), oldestMs: null }));
  expect(
    await same(({ settlements }) => settlements.find({ marketId: 'nowhere0', sequence: 1, part: 0 })),
  ).toBeNull();
});

test('comments have the names of their authors, which are in the first shard', async () => {
  const [author = '', other = ''] = wallets;
  for (const reading of [one, four]) {
    await reading.joining.join(author);
    await reading.profiles.edit(author, { username: 'Ada', avatarUrl: 'https://a.example/a.png' });
    await expect(reading.profiles.edit(other, { username: 'ada' })).rejects.toMatchObject({
      code: 'USERNAME_TAKEN',
    });
    for (const id of marketIds) {
      for (let i = 1; i <= 3; i++)
        await reading.comments.add(id, random.pick([author]), `text ${i}`, i - 1, `${id} ${i}`);
      await reading.comments.like({ marketId: id, number: 2 }, other, true);
      await reading.comments.remove({ marketId: id, number: 3 }, author);
    }
  }
  for (const id of marketIds) {
    const pages = await same(({ comments }) =>
      walk(async (cursor) => {
        const { comments: rows, next } = await comments.list(id, { limit: 2, cursor });
        return { rows, next };
      }),
    );
    expect(pages.flat().map(({ username, likes }) => [username, likes])).toEqual([
      ['Ada', 0],
      ['Ada', 1],
      ['Ada', 0],
    ]);
  }
  // A muted wallet reads what it wrote, with its name.
  for (const { profiles } of [one, four]) await profiles.moderate(author, { muted: true });
  for (const limit of [1, 4, 200]) {
    const [found = [], expected = []] = await Promise.all(
      [four, one].map(({ comments }) =>
        walk(async (cursor) => {
          const { comments: rows, next } = await comments.ofWallet(author, { limit, cursor });
          return { rows, next };
        }),
      ),
    );
    const times = found.flat().map(({ createdAtMs }) => createdAtMs);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const shown = (pages: typeof found) =>
      pages.flatMap((rows) => rows.map(({ createdAtMs: _, ...rest }) => JSON.stringify(rest))).sort();
    expect(shown(found)).toEqual(shown(expected));
    expect(times).toHaveLength(2 * marketIds.length);
    expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  }
  for (const { profiles } of [one, four]) await profiles.moderate(author, { muted: false });
  for (const wallet of [...wallets, `0x${'9'.repeat(40)}`])
    await same(({ profiles }) => profiles.profile(wallet));
  for (const reading of [one, four])
    await expect(reading.comments.one({ marketId: 'nowhere0', number: 1 })).rejects.toMatchObject({
      code: 'COMMENT_NOT_FOUND',
    });
});

test('an answer is kept until its market, or a comment in it, changes', async () => {
  const { kept } = four.reads;
  const [id = '', elsewhere = ''] = marketIds.slice(1);
  const before = await Promise.all([kept.talk(id), kept.talk(elsewhere), kept.talk(), kept.market(id)]);
  await four.comments.add(id, wallets[0] ?? '', 'one more', 0, 'one more');
  const after = await Promise.all([kept.talk(id), kept.talk(elsewhere), kept.talk(), kept.market(id)]);
  expect(after.map((moment, i) => moment?.stamp === before[i]?.stamp)).toEqual([false, true, true, true]);
  await four.profiles.edit(wallets[0] ?? '', { bio: 'new' });
  const last = await Promise.all([kept.talk(id), kept.talk(elsewhere), kept.talk()]);
  expect(last.map((moment, i) => moment.stamp === after[i]?.stamp)).toEqual([false, false, false]);
  expect(await kept.market('nowhere0')).toBeNull();
});

test('the outbox of all shards has the entries of one, and a reader is behind by those of one shard', async () => {
  const found = await same(async ({ outboxLag }) => {
    const { length, added, readers } = await outboxLag.look();
    // Entries of the whole exchange, as its mode, are in each outbox.
    return { isWhole: length === added, readers: readers.map(({ reader }) => reader) };
  });
  expect(found.isWhole).toBe(true);
  const [behind, all] = await Promise.all([four, one].map((reading) => reading.outboxLag.look()));
  const waiting = (lag: typeof all, name: string): number =>
    lag?.readers.find(({ reader }) => reader === name)?.unprocessed ?? -1;
  expect(waiting(behind, 'journal')).toBe(0);
  expect(waiting(behind, 'settlement')).toBeGreaterThan(0);
  expect(waiting(behind, 'settlement')).toBeLessThan(behind?.length ?? 0);
  expect(behind?.length).toBeGreaterThanOrEqual(all?.length ?? 0);
});
