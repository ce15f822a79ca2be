import type { INVARIANTS } from './invariants';
import type { Bug } from './planted-program';

/**
 * Each of these bugs, planted in a copy of the scripts or of a built module, is caught from outside by its own invariant, which
 * proves that the checker can fail.
 */
export interface Planted extends Bug {
  readonly caughtBy: keyof typeof INVARIANTS;
  readonly expiring?: number;
}

export const BUGS: Readonly<Record<string, Planted>> = {
  'the youngest of a price first': {
    lua: [
      { from: "struct.pack('>I6c32', sequence, hash)", to: "struct.pack('>I6c32', 2 ^ 47 - sequence, hash)" },
    ],
    caughtBy: 'better and older orders first',
  },
  'limits are not looked at': {
    lua: [
      { file: 'lib/straight.lua', from: "'-inf', limit,", to: "'-inf', '+inf'," },
      { file: 'lib/booking.lua', from: "'-inf', q.limit,", to: "'-inf', '+inf'," },
      { file: 'lib/plan.lua', from: "'-inf', q.limit,", to: "'-inf', '+inf'," },
    ],
    caughtBy: 'both limits are respected',
  },
  'a maker fills what it has filled before, again': {
    lua: [
      {
        file: 'lib/straight.lua',
        from: 'left = met_size - filled - size',
        to: 'left = met_size - size',
      },
      { file: 'lib/plan.lua', from: 'local rest, yes = size - filled,', to: 'local rest, yes = size,' },
    ],
    caughtBy: 'no order is over-filled',
  },
  'a taker gets all that its last maker has': {
    lua: [
      { file: 'lib/plan.lua', from: 'left < rest and left or rest, rest, nil', to: 'rest, rest, nil' },
      { file: 'lib/plan.lua', from: 'ended = left == 0 or', to: 'ended = left <= 0 or' },
      // Every order takes the long path.
      { file: 'lib/straight.lua', from: 'if left < 0 or', to: 'if true or' },
    ],
    caughtBy: 'no order is over-filled',
  },
  'a cancel gives nothing back': {
    lua: [{ file: 'cancel_order.lua', from: 'value, -value', to: 'value, 0' }],
    caughtBy: 'reservations are those of the open orders',
  },
  'a cancelled order still counts in its level': {
    lua: [{ file: 'cancel_order.lua', from: 'lots - remaining', to: 'lots' }],
    caughtBy: 'levels are the sums of the open orders',
  },
  'a cancelled order still rests': {
    lua: [
      {
        file: 'cancel_order.lua',
        from: "redis.call('ZREM', key .. ':' .. book_side, book.member(number, hash))",
        to: '',
      },
    ],
    caughtBy: 'cancelled and expired orders never fill',
  },
  'expired orders rest and fill': {
    lua: [
      { file: 'lib/plan.lua', from: 'order.is_stale(expiration, q.now_ms)', to: 'false' },
      { file: 'lib/straight.lua', from: ' or order.is_stale(met_expiration, now_ms)', to: '' },
      { file: 'expire_orders.lua', from: 'math.floor(now_ms / 1000)', to: '0' },
    ],
    expiring: 0.7,
    caughtBy: 'cancelled and expired orders never fill',
  },
  'an order sent again is booked again': {
    lua: [
      {
        file: 'lib/straight.lua',
        from: "redis.call('HSETNX', KEYS[4], ARGV[2], record) == 0",
        to: "redis.call('HSET', KEYS[4], ARGV[2], record) == 2",
      },
    ],
    caughtBy: 'acknowledged orders are there',
  },
  'one order in five is answered and not stored': {
    lua: [
      {
        file: 'lib/straight.lua',
        from: "redis.call('HSETNX', KEYS[4], ARGV[2], record) == 0",
        to: "(ARGV[2]:byte(1) < 205 and redis.call('HSETNX', KEYS[4], ARGV[2], record) or 1) == 0",
      },
    ],
    caughtBy: 'acknowledged orders are there',
  },
  'a merge leaves its sets outstanding': {
    lua: [
      { file: 'lib/straight.lua', from: 'sets + tokens or sets - tokens', to: 'sets + tokens or sets' },
      { file: 'lib/matching.lua', from: 'or -p.sets)', to: 'or 0)' },
    ],
    caughtBy: 'money and tokens are conserved',
  },
  'an order takes two numbers': {
    lua: [
      { file: 'lib/straight.lua', from: '  sequence = sequence + 1', to: '  sequence = sequence + 2' },
      {
        file: 'lib/straight.lua',
        from: 'sequence, liquidity = sequence + 1',
        to: 'sequence, liquidity = sequence + 2',
      },
    ],
    caughtBy: 'every number is given once',
  },
  'an order is told without its first fill': {
    modules: [
      { file: 'wire/answers/order.js', from: /fills: fills\.map\(/g, to: 'fills: fills.slice(1).map(' },
    ],
    caughtBy: 'no order is over-filled',
  },
  'every second match is not settled': {
    modules: [
      {
        file: 'store/settlement/matches.js',
        from: 'matches.push(',
        to: 'if (import_outbox.matchOf(packed).sequence % 2) matches.push(',
      },
    ],
    caughtBy: 'every fill is settled once',
  },
  'an order is booked and then refused': {
    modules: [
      {
        file: 'http/orders/submit.js',
        from: 'const booked = book(request)',
        to: "const booked = book(request).then((placed) => { if (placed.record.orderHash.endsWith('7')) throw new import_errors.Refusal('FOK_NOT_FILLED', 'no', { available: '0' }); return placed; })",
      },
    ],
    caughtBy: 'refused orders left nothing',
  },
};
