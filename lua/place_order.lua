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
-- ARGV     1 request, packed (REQUEST below; src/store/engine.ts packs it)
--          2 order hash, 32 bytes
--          3 tail of the record: client order id and signed order
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
local FIRST_STEP = 2

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
local is_bid, yes = side == outcome, book.yes_price(price, outcome)
local is_budget = order_type == order.MARKET_TYPE and side == order.BUY
local now_ms = outbox.now_ms()

local level = (is_bid and 'b' or 'a') .. yes
local found = redis.call('HMGET', KEYS[1], 's', level)
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

local opposite, limit = KEYS[3], yes .. ''
if not is_bid then
  opposite, limit = KEYS[2], '-' .. yes
end
local members = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'LIMIT', '0', FIRST_STEP)
if members[1] or dry_run == 1 or order_type ~= order.GTC and order_type ~= order.POST_ONLY or not account then
  local matching = require('lib.matching')
  local q = { side, outcome, order_type, prevention, price, size, budget, expiration, bps, makers_max, grant, dry_run, lot,
    market, maker, now_ms, is_budget, opposite, limit }
  local b = { status, mode, sequence, liquidity, trade_ms, volume, sets, last, KEYS[1], market, {}, {},
    { [level] = found[2] or '' }, {}, {} }
  return matching.place(q, b, members, refuse)
end

-- It rests. From here on nothing may fail.
sequence = sequence + 1
local packed = struct.pack(order.HEAD, order.OPEN, order.REASON_NONE, order.kind(order_type, side, outcome), 0, price,
  size, 0, 0, now_ms, now_ms, sequence, expiration, 0, 0, market, maker) .. ARGV[3]
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
redis.call('ZADD', is_bid and KEYS[2] or KEYS[3], is_bid and '-' .. yes or yes .. '', book.member(sequence, ARGV[2]))
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
