-- Matching: a submission that meets makers, or that may not rest. Plan with reads, then commit; a refusal leaves no trace.
--
-- Works on the keys and arguments of place_order. `q` is its request (places below), `b` the open book, `members` the
-- first of the other side, best first, `refuse` how it refuses.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local trades = require('lib.trades')

local matching = {}

local SIDE, OUTCOME, TYPE, PREVENTION, PRICE, SIZE, BUDGET, EXPIRATION, BPS = 1, 2, 3, 4, 5, 6, 7, 8, 9
local MAKERS_MAX, GRANT, DRY_RUN, LOT, MARKET, MAKER, NOW, IS_BUDGET = 10, 11, 12, 13, 14, 15, 16, 17
local OPPOSITE, LIMIT = 18, 19
local STALE_MAX = 200
-- Makers are read in growing steps: most submissions meet one.
local LAST_STEP, STEP_GROWTH = 128, 4
local CANCEL_TAKER, CANCEL_MAKER = 1, 2

-- One maker met. Returns true when the walk ends here.
local function meet(q, plan, resting)
  if order.is_stale(resting, q[NOW]) then
    plan.stale[#plan.stale + 1] = resting
    return #plan.stale > STALE_MAX
  end
  local own = book.yes_price(resting[order.PRICE], order.outcome(resting))
  own = book.yes_price(own, q[OUTCOME])
  local lots = math.min(plan.left, order.remaining(resting))
  if q[IS_BUDGET] then
    lots = math.min(lots, math.floor((q[BUDGET] - plan.quote) / (own * q[LOT])) * q[LOT])
    if lots == 0 then
      return true
    end
  end
  if q[TYPE] == order.POST_ONLY then
    plan.best = own
    return true
  end
  local n = #plan.makers + 1
  if n + #plan.stopped > q[MAKERS_MAX] then
    plan.stop = order.REASON_MATCH_LIMIT
    return true
  end
  if q[PREVENTION] > 0 and resting[order.MAKER] == q[MAKER] then
    if q[PREVENTION] ~= CANCEL_TAKER then
      plan.stopped[#plan.stopped + 1] = resting
    end
    plan.stop = q[PREVENTION] ~= CANCEL_MAKER and order.REASON_SELF_TRADE or nil
    return q[PREVENTION] ~= CANCEL_MAKER
  end
  plan.makers[n], plan.lots[n], plan.prices[n] = resting, lots, own
  plan.left, plan.filled, plan.quote = plan.left - lots, plan.filled + lots, plan.quote + lots * own
  -- Only the last maker met may keep something: a budget that cannot take it all ends here, too.
  return plan.left == 0 or lots < order.remaining(resting)
end

-- Walks the other side, best price first and oldest first within a price, and plans; changes nothing.
local function walk(q, members)
  local plan = { makers = {}, lots = {}, prices = {}, stale = {}, stopped = {}, filled = 0, quote = 0,
    left = q[IS_BUDGET] and math.huge or q[SIZE] }
  local from, step, n = 0, #members, #members
  while n > 0 do
    for i = 1, n do
      members[i] = members[i]:sub(7)
    end
    local records = redis.call('HMGET', KEYS[5], unpack(members))
    for i = 1, n do
      if meet(q, plan, order.unpack(records[i], members[i])) then
        return plan
      end
    end
    if n < step then
      return plan
    end
    from, step = from + n, math.min(step * STEP_GROWTH, LAST_STEP)
    members = redis.call('ZRANGEBYSCORE', q[OPPOSITE], '-inf', q[LIMIT], 'LIMIT', from, step)
    n = #members
  end
  return plan
end

-- Status and reason the walk leaves the taker with; nil for a refusal, then its code and explanation.
local function verdict(q, filled, stop, best)
  if best then
    return nil, 'POST_ONLY_WOULD_CROSS', best
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

-- The makers in the way that have expired, expired in their own right.
local function expire(q, b, stale)
  orders.load_accounts(q[MARKET], stale, {})
  b[book.SEQUENCE] = b[book.SEQUENCE] + 1
  orders.retire(b, stale, order.EXPIRED, order.REASON_EXPIRED, q[NOW])
  local levels, count = book.write(b)
  local hashes = orders.save(ARGV[4], stale)
  ledger.write()
  outbox.write(ARGV[4], outbox.EXPIRE, q[MARKET], b[book.SEQUENCE], q[NOW], 0, levels, count, hashes, '')
  return { 'AGAIN', integer.text(q[NOW]) }
end

-- Reads the accounts of everybody the plan touches. Returns the others: makers, then expired, then cancelled ones.
local function gather(q, plan)
  local others = {}
  for i = 1, #plan.makers do
    others[i] = plan.makers[i]
  end
  for _, list in ipairs({ plan.stale, plan.stopped }) do
    for i = 1, #list do
      others[#others + 1] = list[i]
    end
  end
  orders.load_accounts(q[MARKET], others, q[BPS] > 0 and { q[MAKER], ledger.FEE } or { q[MAKER] })
  return others
end

-- Fills, expiries and cancellations on the way. Returns the hashes of everybody met.
local function settle(q, b, plan, others, packed_fills)
  local last = plan.makers[#plan.makers]
  if last then
    trades.settle(b, plan, q[MAKER], q[SIDE], q[OUTCOME], q[NOW])
    trades.write(b, packed_fills)
  end
  orders.retire(b, plan.stale, order.EXPIRED, order.REASON_EXPIRED, q[NOW])
  orders.retire(b, plan.stopped, order.CANCELLED, order.REASON_SELF_TRADE, q[NOW])
  -- All that leave stand at the front of their side, with at most one partly filled maker behind them.
  b[book.BIDS], b[book.ASKS] = {}, {}
  local leaving = last and last[order.STATUS] == order.PARTIALLY_FILLED and #others - 1 or #others
  if leaving > 0 then
    redis.call('ZREMRANGEBYRANK', q[OPPOSITE], '0', leaving - 1)
  end
  return orders.save(ARGV[4], others)
end

-- Books the taker's own part, and everything that the script has changed.
local function commit(q, b, record, met, traded)
  local rank = order.rank(record[order.CREATED], record[order.SEQUENCE])
  if record[order.STATUS] > order.PARTIALLY_FILLED then
    rank = -rank
  else
    book.rest(b, record)
    ledger.reserve(q[MARKET], q[MAKER], q[SIDE], q[OUTCOME], order.remaining(record), q[PRICE])
    if q[EXPIRATION] > 0 then
      redis.call('ZADD', KEYS[9], integer.text(q[EXPIRATION]), ARGV[2])
    end
  end
  redis.call('ZADD', KEYS[8], integer.text(rank), ARGV[2])
  local levels, count = book.write(b)
  ledger.write()
  outbox.write(ARGV[4], traded and outbox.TRADE or outbox.ORDER, q[MARKET], b[book.SEQUENCE], q[NOW],
    traded and b[book.TRADE_MS] or 0, levels, count, ARGV[2] .. met, '')
end

-- The reply of place_order.
function matching.place(q, b, members, refuse)
  ledger.open(ARGV[4], q[GRANT])
  local plan = walk(q, members)
  if #plan.stale > STALE_MAX then
    return expire(q, b, plan.stale)
  end
  local status, reason, explanation = verdict(q, plan.filled, plan.stop, plan.best)
  if not status then
    return refuse(q[NOW], reason, explanation)
  end
  local others, packed_fills, sequence, fill_ms = gather(q, plan), '', b[book.SEQUENCE] + 1, 0
  local traded = plan.makers[1] ~= nil
  b[book.SEQUENCE] = sequence
  if traded then
    fill_ms = math.max(q[NOW], b[book.TRADE_MS])
    b[book.TRADE_MS] = fill_ms
    if q[BPS] > 0 then
      trades.charge(plan, q[BPS], q[SIDE], q[PRICE], not q[IS_BUDGET])
    end
    packed_fills = trades.pack(plan, ARGV[2], q[SIDE], q[OUTCOME])
  end
  local record = { status, reason, order.kind(q[TYPE], q[SIDE], q[OUTCOME]), 0, q[PRICE],
    q[IS_BUDGET] and math.max(q[SIZE], plan.filled) or q[SIZE], plan.filled, plan.quote, q[NOW], q[NOW], sequence,
    q[EXPIRATION], fill_ms, traded and sequence or 0, q[MARKET], q[MAKER], ARGV[3], ARGV[2] }
  local packed = order.pack(record)
  if q[DRY_RUN] == 1 and redis.call('HEXISTS', KEYS[5], ARGV[2]) == 0 then
    return { 'BOOKED', integer.text(q[NOW]), packed, packed_fills }
  end
  if q[DRY_RUN] == 1 or redis.call('HSETNX', KEYS[5], ARGV[2], packed) == 0 then
    return refuse(q[NOW], 'REPLAYED')
  end
  -- Everything is decided; from here on nothing may fail.
  commit(q, b, record, settle(q, b, plan, others, packed_fills), traded)
  return { 'BOOKED', integer.text(q[NOW]), packed, packed_fills }
end

return matching
