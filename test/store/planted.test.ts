import { sampleOf } from '../support/sample';
import { tell } from '../support/telling';
import { type Fault, type Lane, startLane } from './fuzzing/lane';
import { type Bug, REPLACED } from './fuzzing/planted-replacing';
import { findPlace, type Patch } from './fuzzing/scripts';

/**
 * Proves that the fuzz can fail: it catches each of these bugs, planted in a copy of lua/, within few operations. A patch
 * that finds no place in the sources fails here, too: give it a new anchor.
 */
const OPERATIONS = 2_500;
/** The number of bugs that one run of `npm test` plants; `npm run test:long` plants all. */
const [SAMPLE, ENDING_SAMPLE] = [6, 2];
/** Worlds without and with fees, with few and with many makers; number 3 is deep. */
const SEEDS = [1, 2, 0, 3, 6];
/** Bugs that show only at an event of few worlds: the worlds that have it. */
const RARE_SEEDS: Readonly<Record<string, number[]>> = {
  'a raise that is repeated raises again': [17, 38],
  'a sweep misses what was booked behind it': [18, 25],
  'one maker met: new holder not noted': [16, 12],
  'halves that nobody can be paid are lost': [34, 32],
};
const ENDING_OPERATIONS = 500;
const ENDING_SEEDS = [1, 2, 0, 4, 5, 6, 8, 9, 10, 12];

const BUGS: readonly Bug[] = [
  ['price compare: equal prices do not cross', "'-inf', limit,", "'-inf', '(' .. limit,"],
  [
    'time priority: the youngest first',
    "struct.pack('>I6c32', sequence, hash)",
    "struct.pack('>I6c32', 2 ^ 47 - sequence, hash)",
  ],
  ['complement ignored', 'return outcome == 0 and price or ONE_PIPS - price', 'return price'],
  [
    'reserve not released',
    'local kind, reserve = record.kind, ledger.reserve_of(record)',
    'local kind, reserve = record.kind, 0',
  ],
  ['reserve not released by the cancel of one', 'value, -value', 'value, 0', 'cancel_order.lua'],
  ['over-fill of the maker', 'left < rest and left or rest', 'left'],
  ['over-fill of the taker', 'left < rest and left or rest', 'rest'],
  ['expiry a millisecond late', '>= expiration * 1000', '> expiration * 1000', 'lib/order.lua'],
  [
    'expired orders accepted for a millisecond',
    'now_ms >= expiration * 1000',
    'now_ms > expiration * 1000',
    'lib/request.lua',
  ],
  ['sweep a second early', 'math.floor(now_ms / 1000)), ', 'math.ceil(now_ms / 1000)), '],
  [
    'expired makers skipped, not expired',
    '    return 0, order.EXPIRED, order.REASON_EXPIRED',
    '    return lots, nil, order.REASON_NONE',
  ],
  [
    'improvement to the maker',
    'local price, lots, gone, status, reason = book.yes_price(yes, outcome),',
    'local price, lots, gone, status, reason = q.price,',
  ],
  [
    'level total: a partly filled order leaves with its whole size',
    'book.change(b, level, -lots, -1)',
    'book.change(b, level, -record.size, -1)',
  ],
  ['level count: a filled maker still counts', 'level_orders + 1', 'level_orders'],
  [
    'duplicate executed',
    "redis.call('HSETNX', KEYS[4], ARGV[2], record) == 0",
    "redis.call('HSET', KEYS[4], ARGV[2], record) == 2",
  ],
  [
    'duplicate hears a refusal',
    'ARGV[2])\n  if stored then\n    return request.replayed',
    "ARGV[2])\n  if stored and code == 'REPLAYED' then\n    return request.replayed",
  ],
  ['duplicate executed by a match', 'if stored[2] then', 'if false then'],
  ['dry run booked', 'if dry_run == 0 then', 'if true then'],
  ['self-trade missed through the other outcome', 'maker == q.maker', 'maker == q.maker and q.outcome == 0'],
  ['one maker too many', '>= q.makers_max', '> q.makers_max'],
  ['budget overspent', 'math.floor((q.budget', 'math.ceil((q.budget'],
  ['FOK filled in part', 'q.type == order.FOK', 'q.type == -1'],
  [
    'POST_ONLY crosses through the other outcome',
    'q.type == order.POST_ONLY',
    'q.type == order.POST_ONLY and q.outcome == 0',
  ],
  ['funds not checked', 'available < required', 'available < 0'],
  ['deadline ignored', 'deadline_ms > 0 and', 'deadline_ms < 0 and'],
  ['fee at p instead of min(p, 1 - p)', 'math.min(pips, ONE_PIPS - pips)', 'pips'],
  ['fee of the taker not collected', 'p.charged, 0, 0, 0)', '0, 0, 0, 0)'],
  [
    'fee of the taker at its limit',
    'fee.of(q.side, q.bps, price, lots)',
    'fee.of(q.side, q.bps, q.price, lots)',
  ],
  ['fee of a maker at the price of the taker', 'q.bps, p.prices[i], lots)', 'q.bps, price, lots)'],
  ['fee rounded up', 'math.floor(rate * rest / unit)', 'math.ceil(rate * rest / unit)'],
  ['liquidity at the Yes price', 'liquidity + size * price', 'liquidity + size * yes', 'lib/straight.lua'],
  ['liquidity not reduced by the cancel of one', 'liquidity - remaining * price', 'liquidity'],
  [
    'a merge leaves its sets outstanding',
    'side == order.BUY and p.sets or -p.sets',
    'side == order.BUY and p.sets or 0',
  ],
  ['last price in the token of the taker', 'book.yes_price(p.last_price, q.outcome)', 'p.last_price'],
  ['a cancel skips a number', 'b.sequence + 1', 'b.sequence + 2', 'lib/orders.lua'],
  [
    'an order that rests skips a number',
    'sequence, liquidity = sequence + 1,',
    'sequence, liquidity = sequence + 2,',
    'lib/straight.lua',
  ],
  ['cancels for somebody else', 'owner ~= maker or at ~= market', 'at ~= market', 'cancel_orders.lua'],
  ['collateral kept by the cancel of many', 't.cash + rest * price', 't.cash'],
  ['tokens kept by the cancel of many', 't.no + rest * ledger.MICRO_PER_LOT', 't.no'],
  ['a cancel of many takes the filled part off the level', '-rest, -1)', '-size, -1)', 'lib/batch.lua'],
  ['liquidity not reduced by the cancel of many', '- rest * price', '- 0 * price', 'lib/batch.lua'],
  [
    'an order named twice is cancelled twice',
    'if now_cancelled[hash] then',
    'if false then',
    'cancel_orders.lua',
  ],
  [
    'orders cancelled together stay open in the index of their wallet',
    'integer.text(-order.rank(created, number))',
    'integer.text(order.rank(created, number))',
    'lib/batch.lua',
  ],
  ['a cancel of many skips a number', 'b.sequence + 1', 'b.sequence + 2', 'lib/batch.lua'],
  ['a sweep takes both outcomes', 'order.outcome(kind) ~= tonumber(outcome)', 'false', 'lib/walk.lua'],
  ['a sweep goes on behind the order it stopped at', "'(-' .. rank, '(' .. rank)", "'-' .. rank, rank)"],
  [
    'a sweep of one market takes all',
    "if market ~= '' and packed:sub",
    "if market == '--------' and packed:sub",
  ],
  ['a sweep ends before the end', "found[2 * (stopped or look + 1)] or ''", "''"],
  [
    'a sweep misses what was booked behind it',
    'count_behind(shard, maker, from) ~= tonumber(behind)',
    'false',
  ],
  [
    'a filled maker stays open in the index of its wallet',
    'integer.text(-order.rank(created, number))',
    'integer.text(order.rank(created, number))',
    'lib/plan.lua',
  ],
  ['a fill of a maker is not counted', 'own_fills + 1', 'own_fills', 'lib/plan.lua'],
  ['only the last order of a wallet that is filled leaves its index', 'newest[slot] or false, i', 'false, i'],
  ['a final order stays in the expiry index', 'if expiring[1] then', 'if false then'],
  ['an order of the nonce before survives', '< nonce then', '< nonce - 1 then', 'invalidate_orders.lua'],
  ['orders of the new nonce go, too', '< nonce then', '<= nonce then', 'invalidate_orders.lua'],
  ['a raise that is repeated raises again', 'if done then', 'if false then', 'raise_nonce.lua'],
  ['a raise that is not stored', 'nonce + 1, faucet_ms', 'nonce, faucet_ms'],
  ['a merge told as a split', 'sets > 0 and outbox.SPLIT or outbox.MERGE', 'outbox.SPLIT'],
  ['the outbox forgets who was met', "table.concat(p.hashes, '', 1, p.count + 1)", 'ARGV[2]'],
];
/** The end of markets is only played at the end of a world, so these are short. */
const ENDING_BUGS: readonly Bug[] = [
  [
    'holders are paid, and keep their tokens',
    "redis.call('HDEL', shard .. 'm:' .. market .. ':bal', ",
    "redis.call('HMGET', shard .. 'm:' .. market .. ':bal', ",
  ],
  ['those who lost are paid', 'outcome == resolution.NO_WON and no or yes', 'yes'],
  ['losers and winners are paid', 'outcome == resolution.NO_WON and no or yes', 'yes + no'],
  [
    'a holder is paid twice in one step',
    'local function pay(holders, count, is_last, outcome, sets, sequence, now_ms)\n',
    'local function pay(holders, count, is_last, outcome, sets, sequence, now_ms)\n  holders[3], holders[4] = holders[1], holders[2]\n',
  ],
  [
    'holders are paid over orders that rest',
    "redis.call('ZCARD', KEYS[2]) + redis.call('ZCARD', KEYS[3]) > 0",
    'false',
  ],
  ['two halves of one wallet are not put together', ' + yes % 2 * (no % 2)', ''],
  ['halves that nobody can be paid are lost', 'if is_last and sets > sum then', 'if false then'],
  ['paid sets stay outstanding', 'b.sets = b.sets - sum', 'b.sets = b.sets + 0'],
  ['a market is resolved again, another way', "ended:byte() == outcome and 'OK' or", "'OK' or"],
  [
    'the mode binds all markets but the first',
    'for i = 1, #markets do\n    local key',
    'for i = 2, #markets do\n    local key',
  ],
];

/** The straight line of place_order for a match with one maker. */
const ONE_MATCH: readonly Bug[] = (
  [
    ['over-fill of a maker met before', 'met_size - filled - size', 'met_size - size'],
    ['over-fill by one lot', 'if left < 0 or', 'if left < -1 or'],
    ['self-trade', 'left < 0 or met == maker or', 'left < 0 or'],
    ['expired maker filled', ' or order.is_stale(expiration, now_ms)', ''],
    ['POST_ONLY crosses', ' and order_type ~= order.POST_ONLY and', ' and', 'place_order.lua'],
    ['no fee', 'account and bps == 0 and', 'account and', 'place_order.lua'],
    ['dry run booked', 'dry_run == 0 and', '', 'place_order.lua'],
    ['improvement to the maker', 'local value, fill_ms = size * price', 'local value, fill_ms = size * own'],
    ['complement ignored', 'book.yes_price(met_yes, outcome)', 'met_yes'],
    ['reserve kept', 'nonce, faucet_ms, 0, -met_value', 'nonce, faucet_ms, 0, 0'],
    ['tokens to the other outcome', 'met_outcome, tokens, 0)', 'outcome, tokens, 0)'],
    ['tokens sold twice', 'paid, got = value, -tokens', 'paid, got = value, 0'],
    ['a merge adds sets', 'sets + tokens or sets - tokens', 'sets + tokens or sets + tokens'],
    ['level total', 'lots - size,', 'lots - met_size,'],
    ['level count', 'left == 0 and orders - 1 or orders', 'orders - 1'],
    ['empty level stays', 'if orders == 0 then', 'if orders < 0 then'],
    ['liquidity', 'liquidity - met_value', 'liquidity - value'],
    ['last price', 'sets, met_yes)', 'sets, price)'],
    ['volume at the price of the maker', 'volume_with(volume, value)', 'volume_with(volume, met_value)'],
    ['a skipped number', '\n  sequence = sequence + 1', '\n  sequence = sequence + 2'],
    ['filled maker stays in the book', "redis.call('ZREMRANGEBYRANK', opposite, '0', '0')", ''],
    ['filled maker stays open', '-order.rank(created, number)', 'order.rank(created, number)'],
    ['filled taker is open', '-order.rank(now_ms, sequence)', 'order.rank(now_ms, sequence)'],
    [
      'filled maker waits for its expiry',
      "if expiration > 0 then\n      redis.call('ZREM'",
      "if expiration < 0 then\n      redis.call('ZREM'",
    ],
    [
      'chain of fills broken',
      'trades.type_of(side, met_side), chain_ms',
      'trades.type_of(side, met_side), 0',
    ],
    ['a fill of the maker not counted', 'met_fills + 1', 'met_fills'],
    ['new holder not noted', 'if not held[1] then', 'if false then'],
    ['the outbox forgets who was met', 'ARGV[2], first_hash))', 'ARGV[2], ARGV[2]))'],
  ] as const
).map(([name, from, to, file]) => [`one maker met: ${name}`, from, to, file ?? 'lib/straight.lua']);

let lane: Lane;
beforeAll(async () => {
  lane = await startLane();
});
afterAll(() => lane.stop());

/** The first fault, with the number of operations before it. */
async function caught(
  patch: Patch,
  seeds = SEEDS,
  operations = OPERATIONS,
): Promise<(Fault & { readonly after: number }) | null> {
  for (const [i, seed] of seeds.entries()) {
    const outcome = await lane.play({ seed, operations, patches: [patch] });
    if ('fault' in outcome) return { ...outcome.fault, after: i * operations + outcome.fault.at + 1 };
  }
  return null;
}

const found: string[] = [];
afterAll(() => tell(`planted bugs and what caught them\n${found.join('\n')}`));

// Rows of equal length: jest would pass its callback for a missing member.
const rowsOf = (bugs: readonly Bug[]) => bugs.map((bug) => [bug[0], bug] as const);

async function isCaught([name, from, to, file]: Bug, seeds?: number[], operations?: number): Promise<void> {
  const outcome = await caught({ from, to, ...(file ? { file } : {}) }, seeds, operations);
  expect(outcome).not.toBeNull();
  // A script that does not compile proves nothing.
  expect(outcome?.got).not.toMatch(/compil|nonexistent global/);
  found.push(`  ${name}: "${outcome?.check}" after ${outcome?.after} operations`);
}

const TRADING_BUGS = [...BUGS, ...ONE_MATCH, ...REPLACED];

test('every planted bug finds its place in the scripts', () => {
  for (const [, from, to, file] of [...TRADING_BUGS, ...ENDING_BUGS])
    expect(() => findPlace({ from, to, ...(file ? { file } : {}) })).not.toThrow();
});

test.each(rowsOf(sampleOf('planted bugs of trading', TRADING_BUGS, SAMPLE)))('%s is caught', (_, bug) =>
  isCaught(bug, RARE_SEEDS[bug[0]]),
);
test.each(rowsOf(sampleOf('planted bugs of the end of a market', ENDING_BUGS, ENDING_SAMPLE)))(
  '%s: that is caught',
  (_, bug) => isCaught(bug, RARE_SEEDS[bug[0]] ?? ENDING_SEEDS, ENDING_OPERATIONS),
);

test('a patch that changes nothing is an error', async () => {
  await expect(caught({ from: 'no such text', to: '' })).rejects.toThrow('nothing to patch');
});
