import { Redis } from 'ioredis';
import type { RunningRedis } from '../../src/local/redis';
import { startTestRedis } from '../support/redis';
import { Failure, runWorld } from './fuzzing/harness';
import { operationsOf, worldOf } from './fuzzing/operations';
import type { Patch } from './fuzzing/scripts';

/**
 * The fuzz can fail: each of these bugs, planted in a copy of lua/, is caught by it within few operations.
 * A patch that no longer finds its place in the sources fails here, too: anchor it anew.
 */
const OPERATIONS = 2_500;
/** Worlds without and with fees, with few and with many makers; number 3 is deep. */
const SEEDS = [1, 2, 0, 3, 6];

const [PLACE, CANCEL, EXPIRE] = ['place_order.lua', 'cancel_orders.lua', 'expire_orders.lua'];
const [BOOK, ORDER, ORDERS] = ['lib/book.lua', 'lib/order.lua', 'lib/orders.lua'];
const [TRADES, FEE, LEDGER] = ['lib/trades.lua', 'lib/fee.lua', 'lib/ledger.lua'];

type Bug = readonly [name: string, file: string, from: string | RegExp, to: string];
const BUGS: readonly Bug[] = [
  ['price compare: equal prices do not cross', PLACE, "'-inf', limit,", "'-inf', '(' .. limit,"],
  [
    'time priority: the youngest first',
    BOOK,
    /'>I6', record\[order.SEQUENCE\]/,
    "'>I6', 2 ^ 47 - record[order.SEQUENCE]",
  ],
  ['complement ignored', BOOK, 'return outcome == 0 and price or ONE_PIPS - price', 'return price'],
  ['reserve not released', ORDERS, '-order.remaining(record)', '0'],
  ['over-fill of the maker', PLACE, 'math.min(plan.left, order.remaining(resting))', 'plan.left'],
  [
    'over-fill of the taker',
    PLACE,
    'math.min(plan.left, order.remaining(resting))',
    'order.remaining(resting)',
  ],
  ['expiry a millisecond late', ORDER, 'now_ms >= record[12] * 1000', 'now_ms > record[12] * 1000'],
  ['sweep a second early', EXPIRE, 'math.floor(now_ms / 1000)', 'math.ceil(now_ms / 1000)'],
  [
    'expired makers skipped, not expired',
    PLACE,
    'plan.stale[#plan.stale + 1] = resting\n',
    'do return false end\n',
  ],
  [
    'improvement to the maker',
    PLACE,
    'plan.lots[n], plan.prices[n] = resting, lots, own',
    'plan.lots[n], plan.prices[n] = resting, lots, q[PRICE]',
  ],
  [
    'level total: a partly filled order leaves with its whole size',
    BOOK,
    'book.change(b, level, -lots, -1)',
    'book.change(b, level, -record[order.SIZE], -1)',
  ],
  ['level count: a partly filled maker no longer counts', TRADES, '-lots, full and -1 or 0)', '-lots, -1)'],
  [
    'duplicate executed',
    PLACE,
    "redis.call('HSETNX', KEYS[5], ARGV[2], packed) == 0",
    "redis.call('HSET', KEYS[5], ARGV[2], packed) == 2",
  ],
  ['duplicate hears a refusal', PLACE, /if stored then/, 'if false then'],
  ['dry run booked', PLACE, /q\[DRY_RUN\] == 1/g, 'false'],
  [
    'self-trade missed through the other outcome',
    PLACE,
    'resting[order.MAKER] == q[MAKER]',
    'resting[order.MAKER] == q[MAKER] and order.outcome(resting) == q[OUTCOME]',
  ],
  ['one maker too many', PLACE, '> q[MAKERS_MAX]', '> q[MAKERS_MAX] + 1'],
  ['budget overspent', PLACE, /math\.floor\(\(q\[BUDGET\]/, 'math.ceil((q[BUDGET]'],
  ['FOK filled in part', PLACE, 'q[TYPE] == order.FOK', 'q[TYPE] == -1'],
  [
    'POST_ONLY crosses through the other outcome',
    PLACE,
    'q[TYPE] == order.POST_ONLY',
    'q[TYPE] == order.POST_ONLY and order.outcome(resting) == q[OUTCOME]',
  ],
  ['funds not checked', PLACE, 'available < required', 'available < 0'],
  ['fee at p instead of min(p, 1 - p)', FEE, 'math.min(pips, ONE_PIPS - pips)', 'pips'],
  [
    'fee of the taker not collected',
    LEDGER,
    /if fee > 0 then\s+ledger.add_cash\(FEE, fee\)/,
    'if fee < 0 then ledger.add_cash(FEE, fee)',
  ],
  [
    'fee of one settlement record for all',
    TRADES,
    'SETTLEMENT_MAKERS_MAX = 50',
    'SETTLEMENT_MAKERS_MAX = 500',
  ],
  [
    'liquidity at the Yes price',
    BOOK,
    'b[book.LIQUIDITY] + lots * record[order.PRICE]',
    'b[book.LIQUIDITY] + lots * math.abs(level)',
  ],
  [
    'a merge leaves its sets outstanding',
    TRADES,
    '(kind == MINT and lots or -lots)',
    '(kind == MINT and lots or 0)',
  ],
  [
    'last price in the taker’s token',
    TRADES,
    'book.yes_price(plan.prices[#plan.prices], outcome)',
    'plan.prices[#plan.prices]',
  ],
  ['a cancel skips a number', CANCEL, 'b[book.SEQUENCE] + 1', 'b[book.SEQUENCE] + 2'],
  ['a cancel of somebody else’s order', CANCEL, 'record[order.MAKER] == maker and', ''],
  [
    'a final order stays open in the index of its wallet',
    ORDERS,
    '{ integer.text(-order.rank(record)), hash }',
    '{ integer.text(order.rank(record)), hash }',
  ],
  ['a final order stays in the expiry index', ORDERS, 'if expiring[1] then', 'if false then'],
];

let server: RunningRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** The first failure, with the number of operations it took. */
async function caught(patch: Patch): Promise<{ failure: Failure; after: number } | null> {
  for (const [i, seed] of SEEDS.entries()) {
    const world = worldOf(seed);
    try {
      await runWorld(world, operationsOf(world, OPERATIONS), { redis, patches: [patch] });
    } catch (error) {
      if (error instanceof Failure) return { failure: error, after: i * OPERATIONS + error.at + 1 };
      throw error;
    }
  }
  return null;
}

const found: string[] = [];
afterAll(() => process.stdout.write(`planted bugs and what caught them\n${found.join('\n')}\n`));

test.each(BUGS)(
  '%s is caught',
  async (name, file, from, to) => {
    const outcome = await caught({ file, from, to });
    expect(outcome).not.toBeNull();
    found.push(`  ${name}: "${outcome?.failure.reason.check}" after ${outcome?.after} operations`);
  },
  120_000,
);

test('a patch that changes nothing is an error', async () => {
  await expect(caught({ file: PLACE ?? '', from: 'no such text', to: '' })).rejects.toThrow(
    'nothing to patch',
  );
});
