-- Booking of a submission: place_order, replace_order and continue_order read the request, refuse it, plan its match, book it and
-- answer, in these steps. lib/admission has the refusals about nonce, time and money, and lib/known those of orders that were booked
-- before and are archived; lib/matching plans and books.

local admission = require('lib.admission')
local agenda = require('lib.agenda')
local book = require('lib.book')
local ledger = require('lib.ledger')
local order = require('lib.order')
local plan = require('lib.plan')
local request = require('lib.request')

local booking = {}

-- Reads the first order of the other side within the limit, behind `skipped` others: its hash, its record and the name of its level;
-- nil when the request meets none.
local function read_first(q, skipped)
  local best = redis.call('ZRANGEBYSCORE', q.opposite, '-inf', q.limit, 'WITHSCORES', 'LIMIT', skipped, '1')
  if best[1] then
    local hash = best[1]:sub(book.HASH_AT)
    return { hash = hash, record = redis.call('HGET', KEYS[4], hash), level = q.is_bid and 'a' .. best[2] or 'b' .. best[2]:sub(2) }
  end
end

-- Reads the market and the wallet. Returns the open book, or nil, and the open accounts; and the refusal of a request for another
-- reason than money and the orders of the book, or nil. `old` is the order that the request replaces.
local function read(q, first, old)
  local found = redis.call('HMGET', KEYS[1], 's', first and first.level or 's', 'g')
  local code = not found[1] and 'MARKET_NOT_FOUND'
  if found[3] then
    local known = require('lib.known')
    code = known.objection(found[3], q.expiration, q.now_ms)
  end
  if code then
    return nil, nil, request.refuse(q, code)
  end
  local b = book.unpack(found[1], KEYS[1], q.market, first and { [first.level] = found[2] } or {})
  local a = ledger.read(q.shard, (old or q.side == order.SELL) and q.market, { q.maker }, 1, q.grant)
  return b, a, admission.objection(q, b, a)
end

-- Plans the match, books it and answers. `replaced` is as in lib/matching.
local function match(q, b, a, first, replaced)
  local matching = require('lib.matching')
  local reply = matching.sweep(q, b, first, replaced)
  if reply[1] == 'BOOKED' and not q.is_dry_run then
    admission.note(q, a)
  end
  return reply
end

-- Runs place_order. `first` is what lib/straight has read: the first order of the other side, false for none, or nil when it has not
-- read it; with an order, it has also seen that the hash was not booked before.
function booking.place(q, first)
  -- A repetition comes before every refusal, because the order was accepted once.
  local stored = not first and redis.call('HGET', KEYS[4], ARGV[2])
  if stored then
    return request.refuse(q, 'REPLAYED', stored)
  elseif first == nil then
    first = read_first(q, '0')
  end
  local b, a, refusal = read(q, first, nil)
  refusal = refusal or admission.shortage(q, a, nil)
  return refusal or match(q, b, a, first, nil)
end

-- The position of the replaced order on the side that the request meets; plan.NOWHERE when it is not there.
local function rank_of(q, old)
  local is_other_side = (order.side(old.kind) == order.outcome(old.kind)) ~= q.is_bid
  return is_other_side and redis.call('ZRANK', q.opposite, book.member(old.sequence, old.hash)) or plan.NOWHERE
end

-- Runs replace_order, for the order `old_hash`.
function booking.replace(q, old_hash)
  local stored = redis.call('HMGET', KEYS[4], ARGV[2], old_hash)
  if stored[1] then
    return request.refuse(q, 'REPLAYED', stored[1], stored[2] or '')
  end
  local old = stored[2] and order.unpack(stored[2], old_hash)
  local rank = old and rank_of(q, old)
  local first = read_first(q, rank == 0 and '1' or '0')
  local b, a, refusal = read(q, first, old)
  if refusal then
    return refusal
  elseif not old or old.maker ~= q.maker or old.market ~= q.market then
    return request.refuse(q, 'ORDER_NOT_FOUND')
  elseif old.status > order.PARTIALLY_FILLED then
    return request.refuse(q, 'ORDER_NOT_CANCELLABLE', stored[2])
  end
  -- The reserve of the old order counts as free.
  ledger.release(a, 1, old)
  refusal = admission.shortage(q, a, old)
  if refusal then
    return refusal
  end
  local orders = require('lib.orders')
  orders.finish(b, { old }, order.CANCELLED, order.REASON_REPLACED, q.now_ms)
  book.read_totals(b)
  local reply = match(q, book.after(b), a, first, { order = old, rank = rank, book = b })
  if reply[1] == 'BOOKED' then
    reply[4] = order.pack(old)
  end
  return reply
end

-- Whether the next step may not be: the market, its mode, the order's time, deadline or nonce have changed, or its funds are spent.
local function is_over(q, b, a, record)
  local free = admission.free(q, a)
  return not free or free < request.required(q)
    or agenda.status(q.shard, q.market, b.status, q.now_ms) ~= book.OPEN or b.mode ~= book.NORMAL
    or order.is_stale(record.expiration, q.now_ms) or q.deadline_ms > 0 and q.now_ms >= q.deadline_ms
    or a.cash_of[1] and q.nonce < select(3, ledger.open_cash(a.cash_of[1]))
end

-- Runs continue_order: the next step of a submission that meets more makers than one script may. Each step is a command and a match
-- of its own, and the order has the number of its latest. Between two of them it is CONTINUING: it is in no book and not in the index
-- of its wallet, and reserves nothing, so all other scripts but a cancel by its hash ignore it. {x}:exp has the second in which
-- expire_orders ends it.
function booking.continue(q)
  local stored, b = redis.call('HGET', KEYS[4], ARGV[2]), book.open(q.shard, q.market, 's')
  if not stored or stored:byte(-1) ~= order.CONTINUING or b.mode == book.HALTED then
    return request.refuse(q, 'REPLAYED', stored or '')
  end
  local record, a = order.unpack(stored, ARGV[2]), ledger.read(q.shard, q.market, { q.maker }, 1, q.grant)
  q.size, q.budget = q.size - record.filled, q.budget - record.quote
  if is_over(q, b, a, record) then
    local orders = require('lib.orders')
    return request.refuse(q, 'REPLAYED', orders.stop(q.shard, record, order.REASON_MATCH_LIMIT, q.now_ms))
  end
  q.before, record.body = record, record.body:sub(order.HEAD_BYTES + 1)
  local matching = require('lib.matching')
  return matching.sweep(q, b, read_first(q, '0'), nil)
end

return booking
