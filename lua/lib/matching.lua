-- Matching: a submission that meets makers, or may not rest. lib/plan says what it would do; here is decided whether it may,
-- and it is booked: reads first, then writes. A refusal leaves no trace.
--
-- Works on the keys and arguments of place_order and replace_order, their request `q` (lib/request), the open book `b` and
-- the plan `p`.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local plan = require('lib.plan')
local request = require('lib.request')
local trades = require('lib.trades')

local matching = {}

-- Status and reason the walk leaves the taker with; nil for a refusal, then its code and explanation.
function matching.verdict(q, p)
  local filled, stop = p[plan.FILLED], p[plan.STOP]
  if p[plan.BEST] then
    return nil, 'POST_ONLY_WOULD_CROSS', p[plan.BEST]
  end
  if filled >= q[request.SIZE] then
    return order.FILLED_STATUS, order.REASON_NONE
  end
  if q[request.TYPE] == order.FOK then
    if stop == order.REASON_SELF_TRADE then
      return nil, 'SELF_TRADE'
    end
    return nil, 'FOK_NOT_FILLED', integer.text(filled)
  end
  if stop then
    return order.CANCELLED, stop
  end
  if q[request.TYPE] == order.IOC then
    return order.CANCELLED, order.REASON_IOC
  end
  if q[request.TYPE] == order.MARKET_TYPE then
    return order.CANCELLED, order.REASON_MARKET
  end
  return filled > 0 and order.PARTIALLY_FILLED or order.OPEN, order.REASON_NONE
end

-- The taker's record and the match as they will be stored.
function matching.pack(q, p, status, reason)
  local body, traded = ARGV[3], p[plan.FILLS] > 0
  if status == order.OPEN then
    return struct.pack(order.HEAD, q[request.NOW], p[plan.SEQUENCE]) .. body, ''
  end
  if q[request.IS_BUDGET] then
    body = order.with_size(body, math.max(q[request.SIZE], p[plan.FILLED]))
  end
  local record = struct.pack(order.HEAD, q[request.NOW], p[plan.SEQUENCE]) .. body
    .. struct.pack(order.CHANGES, reason, p[plan.FILLED], p[plan.QUOTE], q[request.NOW], traded and p[plan.FILL_MS] or 0,
      traded and p[plan.SEQUENCE] or 0, p[plan.FILLS], status)
  if not traded then
    return record, ''
  end
  local parts = p[plan.PACKED]
  parts[1] = struct.pack(trades.HEAD, ARGV[2], q[request.SIDE], q[request.OUTCOME], p[plan.FILLS])
  return record, table.concat(parts, '', 1, p[plan.FILLS] + 1)
end

-- Moves the money of everybody, in memory; first gives back to the taker what `old`, the order it replaces, had reserved.
-- Returns the accounts and how many they are.
local function settle(q, b, p, rest, old)
  local addresses, side, wallets, bps = p[plan.ADDRESSES], q[request.SIDE], p[plan.WALLETS], q[request.BPS]
  if bps > 0 then
    wallets = wallets + 1
    addresses[wallets] = ledger.FEE
  end
  local a = ledger.read(ARGV[4], q[request.MARKET], addresses, wallets, q[request.GRANT])
  if old then
    ledger.give_back(a, 1, old)
  end
  ledger.settle_makers(a, p[plan.COUNT], p[plan.SLOTS], p[plan.KINDS], p[plan.PRICES], p[plan.LOTS], p[plan.BACKS],
    p[plan.FEES])
  ledger.settle_taker(a, 1, side, q[request.OUTCOME], q[request.PRICE], p[plan.FILLED], p[plan.QUOTE], rest,
    p[plan.CHARGED])
  if bps > 0 and p[plan.FILLS] > 0 then
    local cash, yes, no = ledger.collect(side, q[request.OUTCOME], p[plan.CHARGED], 0, 0, 0)
    for i = 1, p[plan.COUNT] do
      local kind = p[plan.KINDS][i]
      cash, yes, no = ledger.collect(order.side(kind), order.outcome(kind), p[plan.FEES][i] or 0, cash, yes, no)
    end
    ledger.move(a, wallets, cash > 0 and cash, 0, 0, yes > 0 and yes, 0)
    ledger.move(a, wallets, false, 0, 1, no > 0 and no, 0)
  end
  b[book.SETS] = b[book.SETS] + (side == order.BUY and p[plan.SETS] or -p[plan.SETS]) * ledger.MICRO_PER_LOT
  return a, wallets
end

-- Moves makers that are final to the final half of their wallets' indexes, each wallet's in one command.
local function write_indexes(p)
  local addresses, newest, older, ranks, hashes =
    p[plan.ADDRESSES], p[plan.NEWEST], p[plan.OLDER], p[plan.RANKS], p[plan.HASHES]
  for slot = 1, p[plan.WALLETS] do
    local i = newest[slot]
    if i and not older[i] then
      redis.call('ZADD', ARGV[4] .. 'u:' .. addresses[slot], ranks[i], hashes[i + 1])
    elseif i then
      local members, n = {}, 0
      while i do
        members[n + 1], members[n + 2], n, i = ranks[i], hashes[i + 1], n + 2, older[i]
      end
      redis.call('ZADD', ARGV[4] .. 'u:' .. addresses[slot], unpack(members, 1, n))
    end
  end
  if p[plan.EXPIRING][1] then
    redis.call('ZREM', ARGV[4] .. 'exp', unpack(p[plan.EXPIRING]))
  end
end

-- Reads the accounts and levels still missing, and changes them in memory; `old` is the order this one replaces, if it does.
-- Returns the accounts, how many they are, and the lots that will rest.
function matching.prepare(q, b, p, status, old)
  local rest = 0
  b[book.SEQUENCE] = p[plan.SEQUENCE]
  if p[plan.FILLS] > 0 then
    b[book.TRADE_MS], b[book.VOLUME] = p[plan.FILL_MS], book.volume_with(b[book.VOLUME], p[plan.QUOTE])
    b[book.LAST] = book.yes_price(p[plan.LAST_PRICE], q[request.OUTCOME])
  end
  if status <= order.PARTIALLY_FILLED then
    local yes = book.yes_price(q[request.PRICE], q[request.OUTCOME])
    rest = p[plan.LEFT]
    book.change(b, q[request.SIDE] == q[request.OUTCOME] and yes or -yes, rest, 1)
    b[book.LIQUIDITY] = b[book.LIQUIDITY] + rest * q[request.PRICE]
  end
  book.learn(b)
  local accounts, wallets = settle(q, b, p, rest, old)
  book.check(b[book.LIQUIDITY], b[book.SETS])
  return accounts, wallets, rest
end

-- Writes what has been prepared. Nothing here may fail.
function matching.write(q, b, p, record, packed_fills, accounts, wallets, rest)
  local sequence, traded = p[plan.SEQUENCE], p[plan.FILLS] > 0
  local rank = order.rank(q[request.NOW], sequence)
  local is_bid, yes = q[request.SIDE] == q[request.OUTCOME], book.yes_price(q[request.PRICE], q[request.OUTCOME])
  p[plan.RECORDS][2] = record
  redis.call('HSET', KEYS[4], unpack(p[plan.RECORDS], 1, 2 * p[plan.COUNT] + 2))
  -- All that leave stand at the front of their side, with at most one partly filled maker behind them.
  local last = p[plan.COUNT]
  local leaving = p[plan.RANKS][last] and last or last - 1
  if leaving > 0 then
    redis.call('ZREMRANGEBYRANK', q[request.OPPOSITE], '0', integer.text(leaving - 1))
  end
  write_indexes(p)
  redis.call('ZADD', KEYS[7], integer.text(rest > 0 and rank or -rank), ARGV[2])
  if rest > 0 then
    redis.call('ZADD', is_bid and KEYS[2] or KEYS[3], integer.text(is_bid and -yes or yes), book.member(sequence, ARGV[2]))
    if q[request.EXPIRATION] > 0 then
      redis.call('ZADD', ARGV[4] .. 'exp', integer.text(q[request.EXPIRATION]), ARGV[2])
    end
  end
  local levels, count = book.write_levels(b)
  ledger.write(accounts, ARGV[4], q[request.MARKET], wallets)
  if traded then
    redis.call('XADD', KEYS[1] .. ':t', trades.id(p[plan.FILL_MS], sequence), 'f', packed_fills)
  end
  local hashes = table.concat(p[plan.HASHES], '', 1, p[plan.COUNT] + 1)
  redis.call('XADD', KEYS[8], '*', 'e', outbox.entry(traded and outbox.TRADE or outbox.ORDER, q[request.MARKET], sequence,
    q[request.NOW], traded and p[plan.FILL_MS] or 0, levels, count, hashes, ''))
end

return matching
