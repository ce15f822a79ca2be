-- Lots of failed matches that go back on the book: the lots of a maker, when another wallet was at fault. They are not filled any
-- more, in any case. They rest again while the order may rest: it has not ended otherwise, its wallet has not cancelled it, it
-- has not expired, its nonce counts, the market has not ended, and it would meet no order. Else the order ends as CANCELLED.
--
-- {x}:rl   hash: order hash -> the lots of its failed matches that are not filled any more, as a decimal number
-- {x}:ab   hash: order hash -> empty, for an order that its wallet cancelled after it was filled; wallet -> time I6 (ms) and market
--          c8 or ANY_MARKET, when the wallet last cancelled all its orders; both while matches of them are not final (lib/ledger)

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local legs = require('lib.legs')
local order = require('lib.order')
local outbox = require('lib.outbox')
local unfunded = require('lib.unfunded')

local restoring = {}

local HEAD_BYTES = 12

-- Whether the wallet has cancelled the order since the match.
local function is_abandoned(shard, record, trade_ms)
  local marks = redis.call('HMGET', shard .. 'ab', record.hash, record.maker)
  if not marks[2] then
    return marks[1]
  end
  local at_ms, market = struct.unpack(ledger.ABANDONED, marks[2])
  return marks[1] or trade_ms <= at_ms and (market == ledger.ANY_MARKET or market == record.market)
end

-- Whether a FILLED order may rest again, behind all others of its price.
local function may_rest(shard, b, a, record, trade_ms, now_ms)
  if b.status > book.PAUSED or order.is_stale(record.expiration, now_ms) or is_abandoned(shard, record, trade_ms)
    or order.nonce(record.body) < ledger.cash(a, 1)[ledger.NONCE]
    or redis.call('ZCOUNT', shard .. 'u:' .. record.maker, '(0', '+inf') >= unfunded.OPEN_MAX then
    return false
  end
  local level = book.level_of(record.kind, record.price)
  local met = redis.call('ZRANGEBYSCORE', b.key .. (level > 0 and ':a' or ':b'), '-inf', integer.text(level), 'LIMIT', '0', '1')
  return not met[1]
end

-- Adds lots to those of a resting order in the open book, and to the reserve of its wallet, both in memory; lots below zero leave.
local function rest(b, a, record, lots, orders)
  book.change(b, book.level_of(record.kind, record.price), lots, orders)
  b.liquidity = b.liquidity + lots * record.price
  book.check(b.liquidity, b.sets)
  if order.side(record.kind) == order.BUY then
    ledger.move(a, 1, 0, lots * record.price)
  else
    ledger.move(a, 1, false, 0, order.outcome(record.kind), 0, lots * ledger.MICRO_PER_LOT)
  end
end

-- Subtracts lots from those that are filled, in memory.
local function unfill(record, lots, now_ms)
  record.filled, record.quote, record.updated = record.filled - lots, record.quote - lots * record.price, now_ms
end

-- Puts an order among the resting orders of its book and its wallet, or takes it away there.
local function place(shard, b, record, is_open)
  local level, member = book.level_of(record.kind, record.price), book.member(record.sequence, record.hash)
  local side, rank = b.key .. (level > 0 and ':b' or ':a'), order.rank(record.created, record.sequence)
  if is_open then
    redis.call('ZADD', side, integer.text(-level), member)
  else
    redis.call('ZREM', side, member)
  end
  redis.call('ZADD', shard .. 'u:' .. record.maker, integer.text(is_open and rank or -rank), record.hash)
  if is_open and record.expiration > 0 then
    redis.call('ZADD', shard .. 'exp', integer.text(record.expiration), record.hash)
  else
    redis.call('ZREM', shard .. 'exp', record.hash)
  end
end

-- Writes the order and the open book as one command, and notes `returned` more lots that are not filled any more.
local function write(shard, b, a, record, returned, event, now_ms)
  local levels, count = book.write(b)
  ledger.write(a, shard, b.id, 1)
  redis.call('HSET', shard .. 'o', record.hash, order.pack(record))
  if redis.call('HINCRBY', shard .. 'rl', record.hash, integer.text(returned)) == 0 then
    redis.call('HDEL', shard .. 'rl', record.hash)
  end
  outbox.write(shard, event, b.id, b.sequence, now_ms, 0, levels, count, record.hash, '')
end

-- Opens the book, the order and the account of a leg; nil while the market is HALTED, because its book may be copied then.
local function open(shard, leg)
  local b = book.open(shard, leg.market, 's')
  if b.mode == book.HALTED then
    return nil
  end
  b.sequence = b.sequence + 1
  return b, order.unpack(redis.call('HGET', shard .. 'o', leg.hash), leg.hash), ledger.read(shard, leg.market, { leg.wallet }, 1)
end

-- Gives the lots of a leg of a failed match back to its order. An order that still rests keeps its place.
local function give_back(shard, leg, trade_ms, now_ms)
  local b, record, a = open(shard, leg)
  if not b or record.filled < leg.lots then
    return
  end
  local is_open, is_filled = record.status <= order.PARTIALLY_FILLED, record.status == order.FILLED_STATUS
  local rests = is_open or is_filled and may_rest(shard, b, a, record, trade_ms, now_ms)
  unfill(record, leg.lots, now_ms)
  if is_open or is_filled then
    record.status, record.reason = rests and order.PARTIALLY_FILLED or order.CANCELLED, order.REASON_SETTLEMENT_FAILED
  end
  if rests then
    rest(b, a, record, leg.lots, is_open and 0 or 1)
  end
  if rests and not is_open then
    record.sequence = b.sequence
    record.body = struct.pack(order.HEAD, record.created, record.sequence) .. record.body:sub(HEAD_BYTES + 1)
    place(shard, b, record, true)
  end
  write(shard, b, a, record, leg.lots, rests and outbox.ORDER or outbox.CANCEL, now_ms)
  legs.write_counted(shard, legs.counted(shard, { leg }, false, -1))
end

-- Gives the lots of a failed match back to its makers, unless they were at fault. `guilty` is the wallet that was.
function restoring.restore(shard, found, guilty, trade_ms, now_ms)
  for i = 2, #found do
    if found[i].wallet ~= guilty then
      give_back(shard, found[i], trade_ms, now_ms)
    end
  end
end

-- Returns the legs of a failed match whose lots are filled all the same, and the others, which have gone back.
function restoring.split(shard, found)
  local filled, back = {}, {}
  for i = 1, #found do
    local leg = found[i]
    local is_back = i > 1 and tonumber(redis.call('HGET', shard .. 'rl', leg.hash) or '0') >= leg.lots
    local list = is_back and back or filled
    list[#list + 1] = leg
  end
  return filled, back
end

-- Takes the lots of these legs off the book again, because the chain has settled their match after all. An order that has fewer
-- left is as it is: what it has too much, the chain refuses.
function restoring.revoke(shard, back, now_ms)
  for i = 1, #back do
    local leg = back[i]
    local b, record, a = open(shard, leg)
    if b and order.remaining(record) >= leg.lots then
      local is_open, is_last = record.status <= order.PARTIALLY_FILLED, order.remaining(record) == leg.lots
      unfill(record, -leg.lots, now_ms)
      if is_open then
        record.status, record.reason = is_last and order.FILLED_STATUS or order.PARTIALLY_FILLED, order.REASON_NONE
        rest(b, a, record, -leg.lots, is_last and -1 or 0)
      end
      if is_open and is_last then
        place(shard, b, record, false)
      end
      write(shard, b, a, record, -leg.lots, is_open and outbox.ORDER or outbox.CANCEL, now_ms)
    end
  end
end

-- Removes the marks of orders and wallets of which no more matches are open.
function restoring.forget(shard, found)
  if redis.call('EXISTS', shard .. 'ab') == 0 then
    return
  end
  for i = 1, #found do
    local leg = found[i]
    if not ledger.is_unsettled(shard, leg.hash) then
      redis.call('HDEL', shard .. 'ab', leg.hash)
    end
    local a = ledger.read(shard, nil, { leg.wallet }, 1)
    if ledger.cash(a, 1)[ledger.UNSETTLED] == 0 then
      redis.call('HDEL', shard .. 'ab', leg.wallet)
    end
  end
end

return restoring
