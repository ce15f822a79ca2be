import type { JournalRow } from '../../../../src/extensions/portfolio/store/reads';
import type { Channels } from '../../../../src/extensions/shards/store/channels';
import type { RunningRedis } from '../../../../src/local/redis';
import { createRandom, type Random } from '../../../support/random';
import { startTestRedis } from '../../../support/redis';
import { chooseSeed, tell } from '../../../support/telling';
import { sleep } from '../../../support/waiting';
import { openReading, type TestReading } from './reading';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/**
 * Reads of four shards while commands go on: sums that transfers do not change, and walks with a cursor that show every row which was
 * there at their beginning once. `SHARD_BALANCE_READS=10000` reads as many balances.
 */
const READS = Number(process.env.SHARD_BALANCE_READS ?? 3_000);
const COUNT = 4;
const READERS = 6;
const LANES = 4;
const ORDERS_MAX = 700;
const LIMIT_MS = 600_000;
const seed = chooseSeed('reads while commands go on');

let server: RunningRedis;
let world: ShardWorld;
let reading: TestReading;
let random: Random;
let sends = 0;
beforeAll(async () => {
  server = await startTestRedis();
});
beforeEach(async () => {
  random = createRandom(seed);
  world = await openShardWorld({ urls: [server.url], count: COUNT, around: counting });
  reading = await openReading({
    redis: world.redis,
    run: world.run,
    shards: world.shards,
    marketIds: world.ids,
    shardOf: (id: string) => Number(id.slice(-2)),
    grantMicro: GRANT,
    now: () => Date.now(),
  });
});
afterEach(() => world.stop());
afterAll(() => server.stop());

const counting = (channels: Channels): Channels => ({
  ...channels,
  async send(options) {
    const reply = await channels.send(options);
    if (reply.code === 'OK') sends++;
    return reply;
  },
});

/** Most rows are in one shard, so the steps of a walk end there earlier than in the others. */
const mostlyFirst = (): number => (random.chance(0.7) ? 0 : random.int(0, COUNT - 1));

/** Runs the lanes until the task has ended. */
async function during(lane: () => Promise<void>, task: () => Promise<void>): Promise<void> {
  let isOver = false;
  const lanes = Array.from({ length: LANES }, async () => {
    while (!isOver) await lane();
  });
  try {
    await task();
  } finally {
    isOver = true;
    await Promise.all(lanes);
  }
}

const cancel = (marketId: string, wallet: string, orderHash: string): Promise<unknown> =>
  world.exchange.cancelMany(marketId, wallet, [orderHash], 'USER');

test(
  'thousands of reads of balances give the same sum while collateral moves between shards',
  async () => {
    const wallets = Array.from({ length: 6 }, (_, i) =>
      walletWithHome(i % COUNT, COUNT, Math.floor(i / COUNT)),
    );
    const lane = async (): Promise<void> => {
      const [wallet, shard] = [random.pick(wallets), random.int(0, COUNT - 1)];
      const order = world.order(shard, wallet, 0, 0, 5_000, random.int(1, 90) * 200);
      await world.exchange.place(order).catch(() => undefined);
      await cancel(order.marketId, wallet, order.orderHash);
    };
    const sums = new Map<number, number>();
    sends = 0;
    await during(lane, async () => {
      let left = READS;
      const read = async (): Promise<void> => {
        while (left-- > 0) {
          const { freeMicro, reservedMicro } = await reading.reads.balances(random.pick(wallets));
          const sum = freeMicro + reservedMicro;
          sums.set(sum, (sums.get(sum) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: READERS }, read));
    });
    tell(`${READS} reads of balances during ${sends} transfers`);
    expect([...sums]).toEqual([[GRANT, READS]]);
    expect(sends).toBeGreaterThan(50);
    for (const wallet of wallets) {
      expect(await world.exchange.collateral(wallet)).toEqual({ freeMicro: GRANT, reservedMicro: 0 });
      expect(await reading.reads.balances(wallet)).toEqual({
        freeMicro: GRANT,
        reservedMicro: 0,
        tokens: [],
      });
    }
  },
  LIMIT_MS,
);

test(
  'a walk over a wallet’s orders has every order that was there once, while orders come and go',
  async () => {
    const wallet = walletWithHome(1, COUNT);
    const small = () => world.order(mostlyFirst(), wallet, 0, 0, random.int(1, 40), 100);
    const placed: { marketId: string; orderHash: string }[] = [];
    const place = async (): Promise<void> => {
      const order = small();
      await world.exchange.place(order);
      placed.push(order);
    };
    for (let i = 0; i < 300; i++) await place();
    const lane = async (): Promise<void> => {
      const gone = random.pick(placed);
      await cancel(gone.marketId, wallet, gone.orderHash);
      if (placed.length < ORDERS_MAX) await place();
      await sleep(5);
    };
    await during(lane, async () => {
      for (let round = 0; round < 12; round++) {
        const before = placed.map(({ orderHash }) => orderHash);
        const seen: string[] = [];
        const ranks: number[] = [];
        const limit = random.pick([7, 40, 200]);
        let cursor: string | null = null;
        do {
          const page: Awaited<ReturnType<TestReading['reads']['orders']>> = await reading.reads.orders(
            wallet,
            {},
            { limit, cursor },
          );
          seen.push(...page.orders.map(({ record }) => record.orderHash));
          ranks.push(...page.orders.map(({ record }) => record.createdAtMs));
          if (page.next !== null) expect(page.orders.length).toBe(limit);
          cursor = page.next;
        } while (cursor !== null);
        expect(new Set(seen).size).toBe(seen.length);
        const shown = new Set(seen);
        expect(before.filter((hash) => !shown.has(hash))).toEqual([]);
        expect(ranks).toEqual([...ranks].sort((a, b) => b - a));
      }
    });
  },
  LIMIT_MS,
);

test(
  'walks over a journal and over settlements have every line that was there once, while wallets trade',
  async () => {
    const [buyer, seller] = [walletWithHome(0, COUNT), walletWithHome(3, COUNT)];
    // Both buy: the match mints a set of two tokens.
    const trade = async (): Promise<void> => {
      const shard = mostlyFirst();
      await world.exchange.place(world.order(shard, buyer, 0, 0, 5_000, 1));
      await world.exchange.place(world.order(shard, seller, 0, 1, 5_000, 1));
    };
    for (let i = 0; i < 60; i++) await trade();
    await reading.settle();
    const linesOf = async (order: 'asc' | 'desc', limit: number): Promise<JournalRow[]> => {
      const rows: JournalRow[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < 500; pages++) {
        const page: Awaited<ReturnType<TestReading['journal']['rows']>> = await reading.journal.rows(
          buyer,
          {},
          { limit, cursor, order },
        );
        rows.push(...page.rows);
        cursor = page.next;
        if (cursor === null) return rows;
      }
      throw new Error('a walk without an end');
    };
    const settlementsOf = async (limit: number): Promise<string[]> => {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<TestReading['settlements']['list']>> = await reading.settlements.list(
          {},
          { limit, cursor },
        );
        ids.push(...page.records.map(({ marketId, sequence }) => `${marketId} ${sequence}`));
        cursor = page.next;
      } while (cursor !== null);
      return ids;
    };
    const timeOf = (row: JournalRow): number => (row.type === 'TRADE' ? row.side.fill.tradeMs : row.atMs);
    let left = 400;
    const slowly = async (): Promise<void> => {
      if (left-- > 0) await trade();
      await sleep(10);
    };
    await during(slowly, async () => {
      for (let round = 0; round < 6; round++) {
        const before = await linesOf('desc', 1_000);
        const after = await linesOf('desc', random.int(5, 30));
        const found = after.map(({ id }) => id);
        expect(new Set(found).size).toBe(found.length);
        const known = new Set(before.map(({ id }) => id));
        expect(found.filter((id) => known.has(id))).toEqual(before.map(({ id }) => id));
        // In each shard newer lines come first; a walk does not read all shards at the same moment.
        const shardOf = ({ id }: JournalRow): string => id.slice(0, id.indexOf('-'));
        const early = after.filter((row) => {
          const latest = before.find((other) => shardOf(other) === shardOf(row));
          return !known.has(row.id) && latest !== undefined && timeOf(row) < timeOf(latest);
        });
        expect(early).toEqual([]);
        expect(after.map(timeOf)).toEqual(after.map(timeOf).sort((a, b) => b - a));
      }
      const before = new Set(await settlementsOf(200));
      expect(before.size).toBe(60);
      const [walked] = await Promise.all([settlementsOf(50), reading.settle()]);
      expect(new Set(walked).size).toBe(walked.length);
      expect([...before].filter((id) => !walked.includes(id))).toEqual([]);
    });
    const [up, down] = [await linesOf('asc', 17), await linesOf('desc', 23)];
    expect(up.map(({ id }) => id).reverse()).toEqual(down.map(({ id }) => id));
  },
  LIMIT_MS,
);
