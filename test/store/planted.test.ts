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

type Bug = readonly [name: string, from: string | RegExp, to: string, file?: string];
const BUGS: readonly Bug[] = [
  ['price compare: equal prices do not cross', "'-inf', limit, 'LIMIT'", "'-inf', '(' .. limit, 'LIMIT'"],
  [
    'time priority: the youngest first',
    "struct.pack('>I6', sequence) .. hash",
    "struct.pack('>I6', 2 ^ 47 - sequence) .. hash",
  ],
  ['complement ignored', 'return outcome == 0 and price or ONE_PIPS - price', 'return price'],
  ['reserve not released', '-order.remaining(record)', '0'],
  ['reserve not released by the cancel of one', '-remaining * price', '0', 'cancel_order.lua'],
  ['over-fill of the maker', 'math.min(plan.left, order.remaining(resting))', 'plan.left'],
  ['over-fill of the taker', 'math.min(plan.left, order.remaining(resting))', 'order.remaining(resting)'],
  ['expiry a millisecond late', 'now_ms >= record[12] * 1000', 'now_ms > record[12] * 1000'],
  ['expired orders accepted for a millisecond', 'now_ms >= expiration * 1000', 'now_ms > expiration * 1000'],
  ['sweep a second early', 'math.floor(now_ms / 1000)), ', 'math.ceil(now_ms / 1000)), '],
  ['expired makers skipped, not expired', 'plan.stale[#plan.stale + 1] = resting\n', 'do return false end\n'],
  [
    'improvement to the maker',
    'plan.prices[n] = resting, lots, own',
    'plan.prices[n] = resting, lots, q[PRICE]',
  ],
  [
    'level total: a partly filled order leaves with its whole size',
    'book.change(b, level, -lots, -1)',
    'book.change(b, level, -record[order.SIZE], -1)',
  ],
  ['level count: a partly filled maker no longer counts', '-lots, full and -1 or 0)', '-lots, -1)'],
  [
    'duplicate executed',
    "redis.call('HSETNX', KEYS[5], ARGV[2], packed) == 0",
    "redis.call('HSET', KEYS[5], ARGV[2], packed) == 2",
  ],
  [
    'duplicate hears a refusal',
    "  if stored then\n    return { 'REPLAYED'",
    "  if stored and code == 'REPLAYED' then\n    return { 'REPLAYED'",
  ],
  ['dry run booked', /q\[DRY_RUN\] == 1/g, 'false'],
  [
    'self-trade missed through the other outcome',
    'resting[order.MAKER] == q[MAKER]',
    'resting[order.MAKER] == q[MAKER] and order.outcome(resting) == q[OUTCOME]',
  ],
  ['one maker too many', '> q[MAKERS_MAX]', '> q[MAKERS_MAX] + 1'],
  ['budget overspent', 'math.floor((q[BUDGET]', 'math.ceil((q[BUDGET]'],
  ['FOK filled in part', 'q[TYPE] == order.FOK', 'q[TYPE] == -1'],
  [
    'POST_ONLY crosses through the other outcome',
    'q[TYPE] == order.POST_ONLY',
    'q[TYPE] == order.POST_ONLY and order.outcome(resting) == q[OUTCOME]',
  ],
  ['funds not checked', 'available < required', 'available < 0'],
  ['deadline ignored', 'deadline_ms > 0 and', 'deadline_ms < 0 and'],
  ['fee at p instead of min(p, 1 - p)', 'math.min(pips, ONE_PIPS - pips)', 'pips'],
  [
    'fee of the taker not collected',
    /if fee > 0 then\s+ledger.add_cash\(FEE, fee\)/,
    'if fee < 0 then ledger.add_cash(FEE, fee)',
  ],
  ['fee of one settlement record for all', 'SETTLEMENT_MAKERS_MAX = 50', 'SETTLEMENT_MAKERS_MAX = 500'],
  ['liquidity at the Yes price', '+ lots * record[order.PRICE]', '+ lots * math.abs(level)'],
  ['liquidity not reduced by the cancel of one', 'liquidity - remaining * price', 'liquidity'],
  ['a merge leaves its sets outstanding', '(kind == MINT and lots or -lots)', '(kind == MINT and lots or 0)'],
  [
    'last price in the token of the taker',
    'book.yes_price(plan.prices[#plan.prices], outcome)',
    'plan.prices[#plan.prices]',
  ],
  ['a cancel skips a number', 'b[book.SEQUENCE] + 1', 'b[book.SEQUENCE] + 2', 'cancel_orders.lua'],
  [
    'an order that rests skips a number',
    'sequence = sequence + 1',
    'sequence = sequence + 2',
    'place_order.lua',
  ],
  ['cancels for somebody else', 'record[order.MAKER] == maker and', ''],
  [
    'a filled maker stays open in the index of its wallet',
    '{ integer.text(-order.rank(',
    '{ integer.text(order.rank(',
  ],
  ['a final order stays in the expiry index', 'if expiring[1] then', 'if false then'],
  ['the outbox forgets who was met', 'ARGV[2] .. met', 'ARGV[2]'],
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
  async (name, from, to, file) => {
    const outcome = await caught({ from, to, ...(file && { file }) });
    expect(outcome).not.toBeNull();
    // A script that no longer compiles proves nothing.
    expect(String(outcome?.failure.reason.got)).not.toMatch(/compil|nonexistent global/);
    found.push(`  ${name}: "${outcome?.failure.reason.check}" after ${outcome?.after} operations`);
  },
  120_000,
);

test('a patch that changes nothing is an error', async () => {
  await expect(caught({ from: 'no such text', to: '' })).rejects.toThrow('nothing to patch');
});
