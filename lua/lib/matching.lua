-- Matching: books a submission that meets makers or may not rest. lib/plan works out its effects; this module decides
-- whether it is accepted, reads the rest, then writes. A refusal changes nothing.
--
-- The functions work on the keys and arguments of place_order and replace_order, their request `q` (lib/request), the open
-- book `b` and the plan `p`.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local plan = require('lib.plan')
local request = require('lib.request')
local trades = require('lib.trades')

local matching = {}

-- Seconds after which an order between two steps is ended (lua/expire_orders.lua).
matching.PAUSE_S = 5

-- Returns the taker's status and reason after the walk; for a refusal nil, its code and its detail.
local function verdict(q, p)
  local filled, stop = p.filled, p.stop
  if p.best then
    return nil, 'POST_ONLY_WOULD_CROSS', p.best
  end
  if stop == order.REASON_MATCH_LIMIT and q.type ~= order.FOK then
    return order.CONTINUING, order.REASON_NONE
  end
  if filled >= q.size then
    return order.FILLED_STATUS, order.REASON_NONE
  end
  if q.type == order.FOK then
    if stop == order.REASON_SELF_TRADE then
      return nil, 'SELF_TRADE'
    end
    return nil, 'FOK_NOT_FILLED', integer.text(filled)
  end
  if stop then
    return order.CANCELLED, stop
  end
  if q.type == order.IOC then
    return order.CANCELLED, order.REASON_IOC
  end
  if q.type == order.MARKET_TYPE then
    return order.CANCELLED, order.REASON_MARKET
  end
  return p.before.filled + filled > 0 and order.PARTIALLY_FILLED or order.OPEN, order.REASON_NONE
end

-- Returns the taker's record and the match, packed for storage.
local function pack(q, p, status, reason)
  local before, traded = p.before, p.fills > 0
  local head, body = struct.pack(order.HEAD, before.created, p.sequence), before.body or ARGV[3]
  if status == order.OPEN then
    return head .. body, ''
  end
  local filled = before.filled + p.filled
  if q.is_budget then
    body = order.with_size(body, math.max(before.filled + q.size, filled))
  end
  local record = head .. body
    .. struct.pack(order.CHANGES, reason, filled, before.quote + p.quote, q.now_ms, traded and p.fill_ms or before.fill_ms,
      traded and p.sequence or before.fill_sequence, before.fills + p.fills, status)
  if not traded then
    return record, ''
  end
  local parts = p.packed
  parts[1] = struct.pack(trades.HEAD, ARGV[2], q.side, q.outcome, p.fills)
  local packed = trades.with_moment(table.concat(parts, '', 1, p.fills + 1), p.fill_ms, q.now_ms)
  local is_step = status == order.CONTINUING or before.body
  return record, is_step and packed .. struct.pack(trades.LINK, before.fill_ms, before.fill_sequence) or packed
end

-- Moves the money of all wallets, in memory. First it releases the reserve of `old`, the order that the taker replaces.
-- Returns the accounts and their number.
local function settle(q, b, p, rest, old)
  local addresses, side, wallets, bps = p.addresses, q.side, p.wallets, q.bps
  if bps > 0 then
    wallets = wallets + 1
    addresses[wallets] = ledger.FEE
  end
  local a = ledger.read(q.shard, q.market, addresses, wallets, q.grant)
  if old then
    ledger.release(a, 1, old)
  end
  ledger.settle_makers(a, p.count, p.slots, p.kinds, p.prices, p.lots, p.backs,
    p.fees)
  ledger.settle_taker(a, 1, side, q.outcome, q.price, p.filled, p.quote, rest,
    p.charged)
  if bps > 0 and p.fills > 0 then
    local charge = require('lib.charge')
    charge.move(a, wallets, q, p)
  end
  b.sets = b.sets + (side == order.BUY and p.sets or -p.sets) * ledger.SETS_PER_LOT
  return a, wallets
end

-- Moves the makers that are final to the final half of their wallets' indexes, with one command for each wallet.
local function write_indexes(p, shard)
  local addresses, newest, older, ranks, hashes =
    p.addresses, p.newest, p.older, p.ranks, p.hashes
  for slot = 1, p.wallets do
    local i = newest[slot]
    if i and not older[i] then
      redis.call('ZADD', shard .. 'u:' .. addresses[slot], ranks[i], hashes[i + 1])
    elseif i then
      local members, n = {}, 0
      while i do
        members[n + 1], members[n + 2], n, i = ranks[i], hashes[i + 1], n + 2, older[i]
      end
      redis.call('ZADD', shard .. 'u:' .. addresses[slot], unpack(members, 1, n))
    end
  end
  if p.expiring[1] then
    redis.call('ZREM', shard .. 'exp', unpack(p.expiring))
  end
end

-- Reads the accounts and levels still missing, and changes them in memory. `old` is the order that this one replaces, or nil.
-- Returns the accounts, their number, and the lots that will rest.
local function prepare(q, b, p, status, old)
  local rest = 0
  b.sequence = p.sequence
  if p.fills > 0 then
    b.trade_ms, b.volume = p.fill_ms, book.volume_with(b.volume, p.quote)
    b.last = book.yes_price(p.last_price, q.outcome)
  end
  if status <= order.PARTIALLY_FILLED then
    local yes = book.yes_price(q.price, q.outcome)
    rest = p.left
    book.change(b, q.side == q.outcome and yes or -yes, rest, 1)
    b.liquidity = b.liquidity + rest * q.price
  end
  book.read_totals(b)
  local accounts, wallets = settle(q, b, p, rest, old)
  book.check(b.liquidity, b.sets)
  return accounts, wallets, rest
end

-- Writes the prepared changes. Nothing here may fail.
local function write(q, b, p, status, record, packed_fills, accounts, wallets, rest)
  local sequence, traded, before = p.sequence, p.fills > 0, p.before
  local rank = order.rank(before.created, sequence)
  local is_bid, yes = q.side == q.outcome, book.yes_price(q.price, q.outcome)
  p.records[2] = record
  redis.call('HSET', KEYS[4], unpack(p.records, 1, 2 * p.count + 2))
  -- The makers that leave stand at the front of their side; at most one partly filled maker stands behind them.
  local last = p.count
  local leaving = p.ranks[last] and last or last - 1
  if leaving > 0 then
    redis.call('ZREMRANGEBYRANK', q.opposite, '0', integer.text(leaving - 1))
  end
  write_indexes(p, q.shard)
  if rest > 0 then
    redis.call('ZADD', is_bid and KEYS[2] or KEYS[3], integer.text(is_bid and -yes or yes), book.member(sequence, ARGV[2]))
  end
  if status == order.CONTINUING then
    redis.call('ZADD', q.shard .. 'exp', integer.text(math.ceil(q.now_ms / 1000) + matching.PAUSE_S), ARGV[2])
  else
    -- The index of the wallet gets the order with its last step, so that no walk passes it by (lib/walk).
    redis.call('ZADD', KEYS[6], integer.text(rest > 0 and rank or -rank), ARGV[2])
    if rest > 0 and q.expiration > 0 then
      redis.call('ZADD', q.shard .. 'exp', integer.text(q.expiration), ARGV[2])
    elseif before.body then
      redis.call('ZREM', q.shard .. 'exp', ARGV[2])
    end
  end
  local levels, count = book.write_levels(b)
  ledger.write(accounts, q.shard, q.market, wallets, q.now_ms)
  if traded then
    redis.call('XADD', KEYS[1] .. ':t', trades.id(p.fill_ms, sequence), 'f', packed_fills)
  end
  local hashes = table.concat(p.hashes, '', 1, p.count + 1)
  redis.call('XADD', KEYS[7], '*', 'e', outbox.entry(traded and outbox.TRADE or outbox.ORDER, q.market, sequence,
    q.now_ms, traded and p.fill_ms or 0, levels, count, hashes, ''))
end

-- Walks the other side of the book and books the result, unless it is a dry run.
-- `first` is the first order there, a table of its `hash`, its `record` and the name of its `level`; nil when no order can be met.
-- `replaced` is nil unless this order replaces another: it holds that record as `order`, its position on that side as `rank`, and as
-- `book` the book without it, which is written first.
-- Returns the reply: BOOKED with the record and the packed fills, AGAIN when it expired stale makers instead, or a refusal.
function matching.sweep(q, b, first, replaced)
  local p = plan.make(q, b, first, replaced and replaced.rank or plan.NOWHERE)
  if p.stale > plan.STALE_MAX then
    local orders = require('lib.orders')
    return orders.clear(q.shard, p.hashes, p.count + 1, q.now_ms)
  end
  local status, reason, detail = verdict(q, p)
  if not status then
    return request.refuse(q, reason, detail)
  end
  if q.bps > 0 and p.fills > 0 then
    local charge = require('lib.charge')
    charge.fees(q, p)
  end
  local record, fills = pack(q, p, status, reason)
  if not q.is_dry_run then
    local accounts, wallets, rest = prepare(q, b, p, status, replaced and replaced.order)
    -- From here on nothing may fail.
    if replaced then
      local orders = require('lib.orders')
      orders.write(q.shard, replaced.book, { replaced.order }, outbox.CANCEL, q.now_ms)
    end
    write(q, b, p, status, record, fills, accounts, wallets, rest)
  end
  return { 'BOOKED', record, fills }
end

return matching
