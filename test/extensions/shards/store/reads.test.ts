import type { OrdersFilter } from '../../../../src/store/records/order-views';
import { createRandom, type Random } from '../../../support/random';
import { chooseSeed } from '../../../support/telling';
import { type Both, openBoth, walk } from './both';
import type { TestReading } from './reading';

/**
 * The same random commands on one shard and on four: then markets, balances and orders are the same. `SEED=17` repeats a world, and
 * `SHARD_READ_OPERATIONS` says how long it is.
 */
const LIMIT_MS = 600_000;
/** The sizes of pages: the first makes several of them in every world. */
const LIMITS = [1, 7, 60];
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

const UNKNOWN = `0x${'ab'.repeat(32)}`;

const filters = (): OrdersFilter[] => [
  {},
  { status: 'open' },
  { status: 'CANCELLED' },
  { side: 1, outcome: 0 },
  { marketId: marketIds[1] ?? '' },
  { marketId: 'nowhere0' },
];

/** The orders of all wallets, by hash. */
async function hashesOf(): Promise<string[]> {
  const lists = await Promise.all(
    wallets.map((wallet) => one.reads.orders(wallet, {}, { limit: 10_000, cursor: null })),
  );
  return lists.flatMap(({ orders }) => orders.map(({ record }) => record.orderHash));
}

test('markets have the same names, views, trades and candles', async () => {
  for (const id of marketIds) {
    for (const name of [id, `slug-${id}`, `0x${id}`.toUpperCase()])
      await same(({ reads }) => reads.market(name));
    await same(({ reads }) => reads.view(id));
    await same(({ reads }) => reads.candles(id, 0, 60_000));
    await same(({ reads }) => reads.snapshot(id, 20));
    const limit = random.int(1, 40);
    const order = random.pick(['asc', 'desc'] as const);
    await same(({ reads }) =>
      walk(async (cursor) => {
        const { fills, next } = await reads.trades(id, { limit, cursor, order });
        return { rows: fills, next };
      }),
    );
  }
  expect(await same(({ reads }) => reads.market('nowhere'))).toBeNull();
  for (const side of [one, four])
    await expect(side.reads.view('nowhere0')).rejects.toMatchObject({ code: 'MARKET_NOT_FOUND' });
});

test('balances, nonces and open orders of a wallet are those of all shards', async () => {
  let tokens = 0;
  for (const wallet of [...wallets, `0x${'9'.repeat(40)}`]) {
    const found = await same(async ({ reads }) => {
      const balances = await reads.balances(wallet);
      return { ...balances, tokens: [...balances.tokens].sort((a, b) => (a.tokenId < b.tokenId ? -1 : 1)) };
    });
    tokens += found.tokens.length;
    await same(({ reads }) => reads.nonce(wallet));
    await same(({ reads }) => reads.openCount(wallet));
  }
  expect(tokens).toBeGreaterThan(0);
});

test('pages of a wallet’s orders are the same, with the same cursors', async () => {
  let pages = 0;
  for (const [at, wallet] of wallets.entries()) {
    for (const [n, filter] of filters().entries()) {
      const limit = LIMITS[(at + n) % LIMITS.length] ?? 1;
      const cursors = new Map<TestReading, string[]>();
      const found = await same((reading) =>
        walk(async (cursor) => {
          const { orders, next } = await reading.reads.orders(wallet, filter, { limit, cursor });
          cursors.set(reading, [...(cursors.get(reading) ?? []), next ?? '']);
          return { rows: orders, next };
        }),
      );
      // With a market, only its shard is walked.
      if (filter.marketId === undefined) expect(cursors.get(four)).toEqual(cursors.get(one));
      pages += found.length;
    }
  }
  expect(pages).toBeGreaterThan(wallets.length * filters().length);
  for (const reading of [one, four])
    await expect(
      reading.reads.orders(wallets[0] ?? '', {}, { limit: 1, cursor: 'no' }),
    ).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
});

test('an order is found by its hash alone, with its fills', async () => {
  const hashes = await hashesOf();
  expect(hashes.length).toBeGreaterThan(50);
  for (const hash of hashes.filter((_, i) => i % Math.ceil(hashes.length / 80) === 0)) {
    // The second time the shard is known.
    for (let time = 0; time < 2; time++) await same(({ reads }) => reads.order(hash));
    await same(({ reads }) => reads.placed(hash));
    await same(({ reads }) => reads.settledLots(hash));
    const limit = random.int(1, 10);
    await same(({ reads }) =>
      walk(async (cursor) => {
        const found = await reads.orderFills(hash, { limit, cursor });
        return { rows: found?.fills ?? [], next: found?.next ?? null };
      }),
    );
  }
  for (const read of ['order', 'placed'] as const)
    expect(await same(({ reads }) => reads[read](UNKNOWN))).toBeNull();
  expect(await same(({ reads }) => reads.orderFills(UNKNOWN, { limit: 5, cursor: null }))).toBeNull();
  const asked = [...hashes.slice(0, 40), UNKNOWN];
  for (let time = 0; time < 2; time++) {
    const records = await same(({ reads }) => reads.records(asked));
    expect(records.size).toBe(40);
  }
});
