#!lua
-- replace_order: cancels a resting order of a wallet and books a new order of the same wallet in its market, both or neither.
-- The new order is booked as if the old one did not exist: it may use the old reserve and never meets the old order.
-- The two are separate commands, with two numbers and two entries of the outbox. Repeating a booked hash changes nothing.
--
-- KEYS     1 to 7 as place_order has them, for the new order; and, by the records found, the same others
-- ARGV     1 to 3 as place_order has them, for the new order   4 hash of the old order, 32 bytes
--          5... as place_order's 4
-- Returns  { BOOKED, record, fills, old record }: both records as they are now or, with `dryRun`, would be; fills packed as
--          in lib/trades. Else { code, nowMs, ... }
--          REPLAYED  record, old record or ''                   the new hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired or invalidated; run it again
--          GONE                                                 the market has the trace of the new order: ask the archive
--          a refusal code and its detail, nothing changed: those of place_order, in the same order, and these two before the
--          codes about money and the book:
--          ORDER_NOT_FOUND                                      the old order is not this wallet's in this market
--          ORDER_NOT_CANCELLABLE old record                     the old order is final
-- Emits    CANCEL, then ORDER, or TRADE when it matched; EXPIRE or CANCEL with AGAIN
-- Bound    as place_order

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local matching = require('lib.matching')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local plan = require('lib.plan')
local request = require('lib.request')

local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max, grant,
  dry_run, lot, market, maker, yes = struct.unpack(request.PACKED, ARGV[1])
local is_bid, is_budget = side == outcome, order_type == order.MARKET_TYPE and side == order.BUY
local now_ms, shard = outbox.now_ms(), outbox.shard_of(KEYS[7])

local function refuse(code, ...)
  return { code, integer.text(now_ms), ... }
end

-- Why nothing can be booked in the market, before everything else; nil when it can.
local function unfit_of(b)
  if not b then
    return 'MARKET_NOT_FOUND'
  elseif b.known.g ~= '' then
    local gone = require('lib.gone')
    return gone.objection(b.key, b.known.g, ARGV[2], expiration, now_ms, tonumber(ARGV[5]))
  end
end

local stored = redis.call('HMGET', KEYS[4], ARGV[2], ARGV[4])
if stored[1] then
  return refuse('REPLAYED', stored[1], stored[2] or '')
end
local before = book.open(shard, market, 'g')
local unfit = unfit_of(before)
if unfit then
  return refuse(unfit)
end
local a = ledger.read(shard, market, { maker }, 1, grant)
local _, _, current = ledger.cash(a, 1)
local status = agenda.status(shard, market, before.status, now_ms)
local objection = request.objection(nonce, current, expiration, now_ms, status, before.mode, deadline_ms)
if objection then
  return refuse(objection, request.detail_of(objection, current, status))
end
local old = stored[2] and order.unpack(stored[2], ARGV[4])
if not old or old.maker ~= maker or old.market ~= market then
  return refuse('ORDER_NOT_FOUND')
elseif old.status > order.PARTIALLY_FILLED then
  return refuse('ORDER_NOT_CANCELLABLE', stored[2])
end

-- The amount that must be free before the order may match; the reserve of the old order counts as free.
ledger.give_back(a, 1, old)
local required, available, asset = is_budget and budget or size * price, ledger.cash(a, 1), ledger.COLLATERAL
if side == order.SELL then
  local yes_free, _, no_free = ledger.tokens(a, 1)
  required, available, asset = size * ledger.MICRO_PER_LOT, outcome == 0 and yes_free or no_free, ledger.YES + outcome
end
if available < required and dry_run < request.COVERED then
  return refuse('INSUFFICIENT_BALANCE', integer.text(required), integer.text(available), asset)
end

-- The book without the old order, and the old order's position if it stands on the other side.
orders.finish(before, { old }, order.CANCELLED, order.REASON_REPLACED, now_ms)
book.learn(before)
local b = book.behind(before)
local opposite, limit = is_bid and KEYS[3] or KEYS[2], is_bid and yes or '-' .. yes
local gone = (order.side(old.kind) == order.outcome(old.kind)) ~= is_bid
  and redis.call('ZRANK', opposite, book.member(old.sequence, ARGV[4])) or plan.NOWHERE
local best = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'WITHSCORES', 'LIMIT', gone == 0 and '1' or '0', '1')
local first_hash, first, best_total
if best[1] then
  first_hash = best[1]:sub(book.HASH_AT)
  first = redis.call('HGET', KEYS[4], first_hash)
  best_total = redis.call('HGET', KEYS[1], is_bid and 'a' .. best[2] or 'b' .. best[2]:sub(2))
end

local q = request.of(side, outcome, order_type, prevention, price, size, budget, expiration, bps, makers_max, grant, lot,
  market, maker, now_ms, is_budget, opposite, limit, shard)
local reply, code, explanation = matching.sweep(q, b, first_hash, first, best_total, dry_run,
  { order = old, gone = gone, before = before })
if not reply then
  return refuse(code, explanation)
end
if reply[1] == 'BOOKED' then
  reply[4] = order.pack(old)
end
return reply
