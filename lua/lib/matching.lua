-- Matching: a submission that meets makers, or may not rest. Plan with reads, then commit; a refusal leaves no trace.
--
-- Works on the keys and arguments of place_order. `q` is its request and `b` the open book; the plan `p` is what the
-- walk has found so far (places of both below). Nothing here makes a table for each maker: what a maker leaves behind
-- goes straight into the arguments of the commands that the commit calls.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local trades = require('lib.trades')

local matching = {}

local SIDE, OUTCOME, TYPE, PREVENTION, PRICE, SIZE, BUDGET, EXPIRATION, BPS = 1, 2, 3, 4, 5, 6, 7, 8, 9
local MAKERS_MAX, GRANT, LOT, MARKET, MAKER, NOW, IS_BUDGET, OPPOSITE, LIMIT = 10, 11, 12, 13, 14, 15, 16, 17, 18

-- Lots left to fill, filled lots and their value in the taker's token, fills, makers to be cancelled, expired ones,
-- the reason to stop, the price a POST_ONLY order would trade at, the record stored under the taker's hash.
matching.LEFT, matching.FILLED, matching.QUOTE, matching.FILLS, matching.STOPPED, matching.STALE = 1, 2, 3, 4, 5, 6
matching.STOP, matching.BEST, matching.STORED = 7, 8, 9
-- Everybody met: their hashes and how many, how many of them leave the book, the arguments of HSET with their records,
-- the packed fills, what each trades (places below), and, by wallet, what moves in its index.
matching.HASHES, matching.COUNT, matching.LEAVING, matching.RECORDS, matching.PACKED = 10, 11, 12, 13, 14
matching.MET, matching.RANKS, matching.EXPIRING = 15, 16, 17
-- Wallets: place by address, addresses, how many. The time and number of this match.
matching.SLOTS, matching.ADDRESSES, matching.WALLETS, matching.FILL_MS, matching.SEQUENCE = 18, 19, 20, 21, 22
-- The latest fill's price in the taker's token, and the taker's fee (lib/charge).
matching.LAST_PRICE, matching.CHARGED = 23, 24
-- For everybody met, one after another: wallet, kind, price in its own token, lots filled, lots given back, fee.
matching.SLOT, matching.KIND, matching.OWN, matching.LOTS, matching.BACK, matching.FEE = 1, 2, 3, 4, 5, 6
matching.MEMBERS = 6

matching.STALE_MAX = 200
-- Makers read at once, at most.
local STEP_MAX = 128
local CANCEL_TAKER, CANCEL_MAKER = 1, 2

-- Notes what becomes of one maker: `lots` trade, `back` lots leave the book.
local function note(q, b, p, hash, status, reason, filled, quote, chain_ms, chain_sequence, body, created, number, kind,
    own, level, expiration, maker, lots, back, leaves)
  local n, slot = p[matching.COUNT], p[matching.SLOTS][maker]
  local met, at, records = p[matching.MET], n * matching.MEMBERS, p[matching.RECORDS]
  p[matching.COUNT] = n + 1
  if not slot then
    slot = p[matching.WALLETS] + 1
    p[matching.WALLETS], p[matching.SLOTS][maker], p[matching.ADDRESSES][slot] = slot, slot, maker
  end
  met[at + matching.SLOT], met[at + matching.KIND], met[at + matching.OWN] = slot, kind, own
  met[at + matching.LOTS], met[at + matching.BACK], met[at + matching.FEE] = lots, back, 0
  records[2 * n + 3], records[2 * n + 4] = hash, struct.pack(order.CHANGED, status, reason, filled, quote, q[NOW],
    chain_ms, chain_sequence) .. body
  book.change(b, level, -lots - back, leaves and -1 or 0)
  b[book.LIQUIDITY] = b[book.LIQUIDITY] - (lots + back) * own
  if leaves then
    p[matching.LEAVING] = p[matching.LEAVING] + 1
    local ranks, text = p[matching.RANKS][slot], integer.text(-order.rank(created, number))
    if ranks then
      ranks[#ranks + 1], ranks[#ranks + 2] = text, hash
    else
      p[matching.RANKS][slot] = { text, hash }
    end
    if expiration > 0 then
      p[matching.EXPIRING] = p[matching.EXPIRING] or {}
      p[matching.EXPIRING][#p[matching.EXPIRING] + 1] = hash
    end
  end
end

-- One maker met. Returns true when the walk ends here.
local function meet(q, b, p, hash, packed)
  local reason, filled, quote, _, chain_ms, chain_sequence, at = 0, 0, 0, 0, 0, 0, order.OPEN_BODY_AT
  if packed:byte() ~= order.OPEN then
    _, reason, filled, quote, _, chain_ms, chain_sequence, at = struct.unpack(order.CHANGED, packed)
  end
  local created, number, kind, own, size, expiration, maker = struct.unpack(order.BODY_IN_MARKET, packed, at)
  local rest, body, yes = size - filled, packed:sub(at), book.yes_price(own, order.outcome(kind))
  local level = q[SIDE] == q[OUTCOME] and -yes or yes
  if order.is_stale(expiration, q[NOW]) then
    note(q, b, p, hash, order.EXPIRED, order.REASON_EXPIRED, filled, quote, chain_ms, chain_sequence, body, created,
      number, kind, own, level, expiration, maker, 0, rest, true)
    p[matching.STALE] = p[matching.STALE] + 1
    return p[matching.STALE] > matching.STALE_MAX
  end
  local price = book.yes_price(yes, q[OUTCOME])
  local lots = math.min(p[matching.LEFT], rest)
  if q[IS_BUDGET] then
    lots = math.min(lots, math.floor((q[BUDGET] - p[matching.QUOTE]) / (price * q[LOT])) * q[LOT])
    if lots == 0 then
      return true
    end
  end
  if q[TYPE] == order.POST_ONLY then
    p[matching.BEST] = price
    return true
  end
  local n = p[matching.FILLS] + 1
  if n + p[matching.STOPPED] > q[MAKERS_MAX] then
    p[matching.STOP] = order.REASON_MATCH_LIMIT
    return true
  end
  if q[PREVENTION] > 0 and maker == q[MAKER] then
    if q[PREVENTION] ~= CANCEL_TAKER then
      p[matching.STOPPED] = p[matching.STOPPED] + 1
      note(q, b, p, hash, order.CANCELLED, order.REASON_SELF_TRADE, filled, quote, chain_ms, chain_sequence, body,
        created, number, kind, own, level, expiration, maker, 0, rest, true)
    end
    p[matching.STOP] = q[PREVENTION] ~= CANCEL_MAKER and order.REASON_SELF_TRADE or nil
    return q[PREVENTION] ~= CANCEL_MAKER
  end
  p[matching.FILLS], p[matching.PACKED][n + 1] = n, struct.pack(trades.FILL, hash, price, lots,
    trades.type_of(q[SIDE], order.side(kind)), 0, 0, chain_ms, chain_sequence)
  p[matching.LEFT], p[matching.FILLED] = p[matching.LEFT] - lots, p[matching.FILLED] + lots
  p[matching.QUOTE], p[matching.LAST_PRICE] = p[matching.QUOTE] + lots * price, price
  note(q, b, p, hash, lots == rest and order.FILLED_STATUS or order.PARTIALLY_FILLED, reason, filled + lots,
    quote + lots * own, p[matching.FILL_MS], p[matching.SEQUENCE], body, created, number, kind, own, level, expiration,
    maker, lots, 0, lots == rest)
  -- Only the last maker met may keep something: a budget that cannot take it all ends here, too.
  return p[matching.LEFT] == 0 or lots < rest
end

-- How many makers to read next: as many as the taker needs if those to come are like those of the best level.
local function next_step(q, p, best_total)
  local lots, orders = struct.unpack(book.TOTAL, best_total)
  local left = p[matching.LEFT]
  if q[IS_BUDGET] then
    left = (q[BUDGET] - p[matching.QUOTE]) * p[matching.FILLED] / math.max(1, p[matching.QUOTE])
  end
  return math.max(1, math.min(STEP_MAX, math.ceil(left * orders / lots)))
end

-- Walks the other side, best price first and oldest first within a price, and plans; writes nothing. `member` is the
-- first of the other side, nil when there is nobody to meet, `best_total` the packed total of its level.
function matching.walk(q, b, member, best_total)
  local hash = ARGV[2]
  local p = { q[IS_BUDGET] and math.huge or q[SIZE], 0, 0, 0, 0, 0, nil, nil, nil, { hash }, 0, 0,
    { hash, false, false, false }, { false, false }, { 0, 0, 0, 0, 0, 0 }, { false, false }, nil, { [q[MAKER]] = 1 },
    { q[MAKER], false }, 1, math.max(q[NOW], b[book.TRADE_MS]), b[book.SEQUENCE] + 1, nil, 0 }
  if not member then
    p[matching.STORED] = redis.call('HGET', KEYS[5], hash)
    return p
  end
  local hashes, from, n = p[matching.HASHES], 0, 1
  hashes[2] = member:sub(7)
  local records = redis.call('HMGET', KEYS[5], hashes[2], hash)
  p[matching.STORED] = records[2]
  while n > 0 do
    for i = 1, n do
      if meet(q, b, p, hashes[from + i + 1], records[i]) then
        return p
      end
    end
    local step = from == 0 and next_step(q, p, best_total) or STEP_MAX
    from = from + n
    local members = redis.call('ZRANGEBYSCORE', q[OPPOSITE], '-inf', q[LIMIT], 'LIMIT', from, step)
    n = #members
    for i = 1, n do
      members[i] = members[i]:sub(7)
      hashes[from + i + 1] = members[i]
    end
    records = n > 0 and redis.call('HMGET', KEYS[5], unpack(members))
  end
  return p
end

-- Status and reason the walk leaves the taker with; nil for a refusal, then its code and explanation.
function matching.verdict(q, p)
  local filled, stop = p[matching.FILLED], p[matching.STOP]
  if p[matching.BEST] then
    return nil, 'POST_ONLY_WOULD_CROSS', p[matching.BEST]
  end
  if filled >= q[SIZE] then
    return order.FILLED_STATUS, order.REASON_NONE
  end
  if q[TYPE] == order.FOK then
    if stop == order.REASON_SELF_TRADE then
      return nil, 'SELF_TRADE'
    end
    return nil, 'FOK_NOT_FILLED', integer.text(filled)
  end
  if stop then
    return order.CANCELLED, stop
  end
  if q[TYPE] == order.IOC then
    return order.CANCELLED, order.REASON_IOC
  end
  if q[TYPE] == order.MARKET_TYPE then
    return order.CANCELLED, order.REASON_MARKET
  end
  return filled > 0 and order.PARTIALLY_FILLED or order.OPEN, order.REASON_NONE
end

-- The taker's record and the match as they will be stored.
function matching.pack(q, p, status, reason)
  local body, traded = ARGV[3], p[matching.FILLS] > 0
  if status == order.OPEN then
    return struct.pack(order.NEW_OPEN, order.OPEN, q[NOW], p[matching.SEQUENCE]) .. body, ''
  end
  if q[IS_BUDGET] then
    body = order.with_size(body, math.max(q[SIZE], p[matching.FILLED]))
  end
  local record = struct.pack(order.NEW_CHANGED, status, reason, p[matching.FILLED], p[matching.QUOTE], q[NOW],
    traded and p[matching.FILL_MS] or 0, traded and p[matching.SEQUENCE] or 0, q[NOW], p[matching.SEQUENCE]) .. body
  if not traded then
    return record, ''
  end
  local parts = p[matching.PACKED]
  parts[1] = struct.pack(trades.HEAD, ARGV[2], q[SIDE], q[OUTCOME], p[matching.FILLS])
  return record, table.concat(parts, '', 1, p[matching.FILLS] + 1)
end

-- Moves the money of everybody, in memory. Returns the accounts.
local function settle(q, b, p, rest)
  local met, addresses, side, sets = p[matching.MET], p[matching.ADDRESSES], q[SIDE], 0
  local fee_slot, fee_cash, fee_yes, fee_no = p[matching.WALLETS] + 1, 0, 0, 0
  addresses[fee_slot] = q[BPS] > 0 and ledger.FEE or nil
  local a = ledger.read(ARGV[4], q[MARKET], addresses, q[BPS] > 0 and fee_slot or fee_slot - 1, q[GRANT])
  for at = 0, (p[matching.COUNT] - 1) * matching.MEMBERS, matching.MEMBERS do
    local kind, lots, fee = met[at + matching.KIND], met[at + matching.LOTS], met[at + matching.FEE]
    local maker_side, outcome = order.side(kind), order.outcome(kind)
    ledger.settle_maker(a, met[at + matching.SLOT], maker_side, outcome, met[at + matching.OWN], lots,
      met[at + matching.BACK], fee)
    if maker_side == side then
      sets = sets + lots
    end
    if fee > 0 then
      fee_cash, fee_yes, fee_no = ledger.collect(maker_side, outcome, fee, fee_cash, fee_yes, fee_no)
    end
  end
  local charged = p[matching.CHARGED]
  ledger.settle_taker(a, 1, side, q[OUTCOME], q[PRICE], p[matching.FILLED], p[matching.QUOTE], rest, charged)
  if charged > 0 then
    fee_cash, fee_yes, fee_no = ledger.collect(side, q[OUTCOME], charged, fee_cash, fee_yes, fee_no)
  end
  if fee_cash + fee_yes + fee_no > 0 then
    ledger.move(a, fee_slot, fee_cash > 0 and fee_cash, 0, 0, fee_yes > 0 and fee_yes, 0)
    ledger.move(a, fee_slot, false, 0, 1, fee_no > 0 and fee_no, 0)
  end
  b[book.SETS] = b[book.SETS] + (side == order.BUY and sets or -sets) * ledger.MICRO_PER_LOT
  return a, q[BPS] > 0 and fee_slot or fee_slot - 1
end

-- Writes what the makers leave behind.
local function write_makers(q, p)
  if p[matching.LEAVING] > 0 then
    -- All that leave stand at the front of their side, with at most one partly filled maker behind them.
    redis.call('ZREMRANGEBYRANK', q[OPPOSITE], '0', p[matching.LEAVING] - 1)
  end
  local addresses, ranks = p[matching.ADDRESSES], p[matching.RANKS]
  for slot = 1, p[matching.WALLETS] do
    if ranks[slot] then
      redis.call('ZADD', ARGV[4] .. 'u:' .. addresses[slot], unpack(ranks[slot]))
    end
  end
  if p[matching.EXPIRING] then
    redis.call('ZREM', KEYS[9], unpack(p[matching.EXPIRING]))
  end
end

-- Books everything: reads the accounts and levels still missing, then writes. From the first write on nothing may fail.
function matching.commit(q, b, p, status, record, packed_fills)
  local sequence, traded, rest = p[matching.SEQUENCE], p[matching.FILLS] > 0, 0
  local rank = order.rank(q[NOW], sequence)
  local is_bid, yes = q[SIDE] == q[OUTCOME], book.yes_price(q[PRICE], q[OUTCOME])
  b[book.SEQUENCE] = sequence
  if traded then
    b[book.TRADE_MS], b[book.VOLUME] = p[matching.FILL_MS], b[book.VOLUME] + p[matching.QUOTE]
    b[book.LAST] = book.yes_price(p[matching.LAST_PRICE], q[OUTCOME])
  end
  if status <= order.PARTIALLY_FILLED then
    rest = p[matching.LEFT]
    book.change(b, is_bid and yes or -yes, rest, 1)
    b[book.LIQUIDITY] = b[book.LIQUIDITY] + rest * q[PRICE]
  else
    rank = -rank
  end
  book.learn(b)
  local accounts, wallets = settle(q, b, p, rest)
  p[matching.RECORDS][2] = record
  redis.call('HSET', KEYS[5], unpack(p[matching.RECORDS], 1, 2 * p[matching.COUNT] + 2))
  write_makers(q, p)
  redis.call('ZADD', KEYS[8], integer.text(rank), ARGV[2])
  if rest > 0 then
    redis.call('ZADD', is_bid and KEYS[2] or KEYS[3], (is_bid and '-' or '') .. yes, book.member(sequence, ARGV[2]))
    if q[EXPIRATION] > 0 then
      redis.call('ZADD', KEYS[9], integer.text(q[EXPIRATION]), ARGV[2])
    end
  end
  local levels, count = book.write_levels(b)
  ledger.write(accounts, ARGV[4], q[MARKET], wallets)
  if traded then
    redis.call('XADD', KEYS[4], integer.text(p[matching.FILL_MS]) .. '-' .. integer.text(sequence), 'f', packed_fills)
  end
  local hashes = table.concat(p[matching.HASHES], '', 1, p[matching.COUNT] + 1)
  redis.call('XADD', KEYS[10], '*', 'e', outbox.entry(traded and outbox.TRADE or outbox.ORDER, q[MARKET], sequence,
    q[NOW], traded and p[matching.FILL_MS] or 0, levels, count, hashes, ''))
end

return matching
