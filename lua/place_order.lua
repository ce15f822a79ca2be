#!lua
-- place_order: books one signed order: matches it against the book, rests what is left, moves the money,
-- tells the outbox. All of it or nothing, once for each order hash, for ever.
--
-- KEYS     1 {x}:m:<id>       the market: status, sequence, levels (lib/book)
--          2 {x}:m:<id>:b     bids
--          3 {x}:m:<id>:a     asks
--          4 {x}:m:<id>:t     matches (lib/trades)
--          5 {x}:o            orders (lib/orders)
--          6 {x}:bal          collateral accounts (lib/ledger)
--          7 {x}:m:<id>:bal   token accounts
--          8 {x}:u:<address>  the taker's orders; those of the makers met have the same form
--          9 {x}:exp          expiries
--         10 {x}:out          the outbox (lib/outbox)
-- ARGV     1 request, packed (REQUEST below; src/store/place.ts packs it)
--          2 order hash, 32 bytes
--          3 the submitter's part of the record's body, from the kind to the signed order (lib/order)
--          4 key prefix of the shard, `{x}:`
-- Returns  the record, when it rested without meeting anybody (nowMs is its time); else { code, nowMs, ... }
--          BOOKED    record, fills (packed as in lib/trades)    booked, or with `dryRun` what would have been
--          REPLAYED  record                                     this hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired; run it again
--          a refusal code and what it explains, nothing changed:
--          MARKET_NOT_FOUND | MARKET_NOT_OPEN status | CANCEL_ONLY | HALTED | DEADLINE_EXCEEDED | ORDER_EXPIRED
--          INVALID_NONCE_VALUE current | INSUFFICIENT_BALANCE required available asset
--          POST_ONLY_WOULD_CROSS best | FOK_NOT_FILLED available | SELF_TRADE
-- Emits    ORDER, or TRADE when it matched; EXPIRE with AGAIN
-- Bound    makersMax makers met, STALE_MAX expired ones on the way (lib/matching)

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local REQUEST = '>BBBBI2I6I7I6I5I4I2I2I7BI6c8c20'

-- A retried duplicate must be recognised before any refusal: it was accepted once.
local function refuse(now_ms, code, ...)
  local stored = redis.call('HGET', KEYS[5], ARGV[2])
  if stored then
    return { 'REPLAYED', integer.text(now_ms), stored }
  end
  return { code, integer.text(now_ms), ... }
end

-- The commonest submission meets nobody and rests: it is booked here, in one straight line, with as little as Lua
-- allows (bench/README.md says what each part costs). Everything else is lib/matching's.
local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max, grant,
  dry_run, lot, market, maker = struct.unpack(REQUEST, ARGV[1])
local is_bid, yes = side == outcome, book.yes_price(price, outcome) .. ''
local is_budget = order_type == order.MARKET_TYPE and side == order.BUY
local now_ms = outbox.now_ms()

-- The best of the other side within the limit, then the state with the levels that will change.
local own_key, level, score = KEYS[3], 'a' .. yes, yes
local opposite, limit = KEYS[2], '-' .. yes
if is_bid then
  own_key, level, score, opposite, limit = opposite, 'b' .. yes, limit, own_key, yes
end
local best = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'WITHSCORES', 'LIMIT', '0', '1')
local best_level = best[2] and (is_bid and 'a' .. best[2] or 'b' .. best[2]:sub(2))
local found
if best_level then
  found = redis.call('HMGET', KEYS[1], 's', level, best_level)
else
  found = redis.call('HMGET', KEYS[1], 's', level)
end
if not found[1] then
  return refuse(now_ms, 'MARKET_NOT_FOUND')
end
local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, found[1])
local account = redis.call('HGET', KEYS[6], maker)
local free, reserved, current, faucet_ms = grant, 0, 0, 0
if account then
  free, reserved, current, faucet_ms = struct.unpack(ledger.CASH, account)
end

-- Refusals in the order of the contract.
if nonce ~= current then
  return refuse(now_ms, 'INVALID_NONCE_VALUE', integer.text(current))
elseif expiration > 0 and now_ms >= expiration * 1000 then
  return refuse(now_ms, 'ORDER_EXPIRED')
elseif status ~= book.OPEN then
  return refuse(now_ms, 'MARKET_NOT_OPEN', status)
elseif mode ~= book.NORMAL then
  return refuse(now_ms, mode == book.CANCEL_ONLY and 'CANCEL_ONLY' or 'HALTED')
elseif deadline_ms > 0 and now_ms >= deadline_ms then
  return refuse(now_ms, 'DEADLINE_EXCEEDED')
end
-- What must be free before the order may match: limit x size, or the budget, or the tokens.
local required, available, yes_free, yes_reserved, no_free, no_reserved = size * price, free, 0, 0, 0, 0
if side == order.SELL then
  local held = redis.call('HGET', KEYS[7], maker)
  if held then
    yes_free, yes_reserved, no_free, no_reserved = struct.unpack(ledger.TOKENS, held)
  end
  required, available = size * ledger.MICRO_PER_LOT, outcome == 0 and yes_free or no_free
elseif is_budget then
  required = budget
end
if available < required then
  return refuse(now_ms, 'INSUFFICIENT_BALANCE', integer.text(required), integer.text(available),
    side == order.BUY and ledger.COLLATERAL or ledger.YES + outcome)
end

if best_level or dry_run == 1 or order_type ~= order.GTC and order_type ~= order.POST_ONLY or not account then
  local matching = require('lib.matching')
  local q = { side, outcome, order_type, prevention, price, size, budget, expiration, bps, makers_max, grant, lot, market,
    maker, now_ms, is_budget, opposite, limit }
  local b = { status, mode, sequence, liquidity, trade_ms, volume, sets, last, KEYS[1], market, {}, {},
    { [level] = found[2] or '', [best_level or ''] = found[3] } }
  local p = matching.walk(q, b, best[1], found[3])
  if p[matching.STORED] then
    return refuse(now_ms, 'REPLAYED')
  end
  if p[matching.STALE] > matching.STALE_MAX then
    local orders = require('lib.orders')
    return orders.clear(ARGV[4], market, p[matching.HASHES], p[matching.COUNT] + 1, now_ms)
  end
  local taker_status, reason, explanation = matching.verdict(q, p)
  if not taker_status then
    return refuse(now_ms, reason, explanation)
  end
  if bps > 0 and p[matching.FILLS] > 0 then
    local charge = require('lib.charge')
    charge.fees(p, bps, side, outcome, price, not is_budget)
  end
  local record, fills = matching.pack(q, p, taker_status, reason)
  if dry_run ~= 1 then
    matching.commit(q, b, p, taker_status, record, fills)
  end
  return { 'BOOKED', integer.text(now_ms), record, fills }
end

-- It rests. From here on nothing may fail.
sequence = sequence + 1
local packed = struct.pack(order.NEW_OPEN, order.OPEN, now_ms, sequence) .. ARGV[3]
if redis.call('HSETNX', KEYS[5], ARGV[2], packed) == 0 then
  return refuse(now_ms, 'REPLAYED')
end
local lots, orders = size, 1
if found[2] then
  lots, orders = struct.unpack(book.TOTAL, found[2])
  lots, orders = lots + size, orders + 1
end
redis.call('HSET', KEYS[1], 's', struct.pack(book.STATE, status, mode, sequence, liquidity + size * price, trade_ms,
  volume, sets, last), level, struct.pack(book.TOTAL, lots, orders))
redis.call('ZADD', own_key, score, book.member(sequence, ARGV[2]))
redis.call('ZADD', KEYS[8], integer.text(order.rank(now_ms, sequence)), ARGV[2])
if expiration > 0 then
  redis.call('ZADD', KEYS[9], integer.text(expiration), ARGV[2])
end
if side == order.BUY then
  redis.call('HSET', KEYS[6], maker, ledger.held_cash(free, reserved, size * price, current, faucet_ms))
elseif outcome == 0 then
  redis.call('HSET', KEYS[7], maker, ledger.held_yes(yes_free, yes_reserved, no_free, no_reserved, required))
else
  redis.call('HSET', KEYS[7], maker, ledger.held_no(yes_free, yes_reserved, no_free, no_reserved, required))
end
redis.call('XADD', KEYS[10], '*', 'e',
  outbox.one_order(outbox.ORDER, market, sequence, now_ms, level, yes, lots, orders, ARGV[2]))
return packed
