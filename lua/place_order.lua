#!lua
-- place_order: books one signed order: matches it against the book, rests what is left, moves the money,
-- tells the outbox. All of it or nothing, once for each order hash, for ever.
--
-- KEYS     1 {x}:m:<id>       the market: status, sequence, levels (lib/book)
--          2 {x}:m:<id>:b     bids
--          3 {x}:m:<id>:a     asks
--          4 {x}:o            orders (lib/orders)
--          5 {x}:bal          collateral accounts (lib/ledger)
--          6 {x}:m:<id>:bal   token accounts
--          7 {x}:u:<address>  the taker's orders
--          8 {x}:out          the outbox (lib/outbox)
--          and, when they are needed, the market's matches {x}:m:<id>:t (lib/trades), the orders of the makers met, the
--          expiries {x}:exp, a new holder's markets {x}:w:<address>, all in this slot: each key handed over takes time
-- ARGV     1 request, packed (lib/request; src/store/verbs/place.ts packs it)
--          2 order hash, 32 bytes
--          3 the submitter's part of the record's body, from the kind to the signed order (lib/order)
--          4 key prefix of the shard, `{x}:`
-- Returns  the record, when it rested without meeting anybody; { BOOKED, record, fills }, when it was booked otherwise,
--          or with `dryRun` what would have been (fills packed as in lib/trades); the record's time is nowMs.
--          Else { code, nowMs, ... }
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
local request = require('lib.request')
local tables = require('lib.tables')
local trades = require('lib.trades')

-- A retried duplicate must be recognised before any refusal: it was accepted once.
local function refuse(now_ms, code, ...)
  local stored = redis.call('HGET', KEYS[4], ARGV[2])
  if stored then
    return { 'REPLAYED', integer.text(now_ms), stored }
  end
  return { code, integer.text(now_ms), ... }
end

-- Most submissions meet nobody and rest, or meet one order that takes them whole. Both are booked here, each in one
-- straight line with as little as Lua allows (bench/README.md says what each part costs). All others are lib/matching's.
local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max, grant,
  dry_run, lot, market, maker, yes = struct.unpack(request.PACKED, ARGV[1])
local is_bid = side == outcome
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
-- Who is first on the other side, and the accounts of both.
local account, first, first_hash, first_account
if best_level then
  first_hash = best[1]:sub(book.HASH_AT)
  local stored = redis.call('HMGET', KEYS[4], first_hash, ARGV[2])
  if stored[2] then
    return { 'REPLAYED', integer.text(now_ms), stored[2] }
  end
  first = stored[1]
  local accounts = redis.call('HMGET', KEYS[5], maker, first:sub(order.MAKER_FROM, order.MAKER_TO))
  account, first_account = accounts[1], accounts[2]
else
  account = redis.call('HGET', KEYS[5], maker)
end
local free, reserved, current, faucet_ms = grant, 0, 0, 0
if account then
  free, reserved, current, faucet_ms = struct.unpack(ledger.CASH, account)
end

local objection = request.objection(nonce, current, expiration, now_ms, status, mode, deadline_ms)
if objection then
  return refuse(now_ms, objection, request.detail_of(objection, current, status))
end
-- What must be free before the order may match: limit x size, or the budget, or the tokens.
local required, available, yes_free, yes_reserved, no_free, no_reserved = size * price, free, 0, 0, 0, 0
if side == order.SELL then
  local held = redis.call('HGET', KEYS[6], maker)
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

-- One order met takes all of this one.
if first and account and bps == 0 and dry_run == 0 and order_type ~= order.POST_ONLY and not is_budget then
  local created, number, kind, own, met_size, met_expiration, met = struct.unpack(order.BODY_IN_MARKET, first)
  local _, filled, quote, chain_ms, chain_sequence, met_fills, body = nil, 0, 0, 0, 0, 0, first
  if first:byte(-1) ~= order.OPEN then
    _, filled, quote, _, chain_ms, chain_sequence, met_fills = order.changes(first)
    body = order.body(first)
  end
  local left = met_size - filled - size
  if left >= 0 and met ~= maker and not order.is_stale(met_expiration, now_ms) then
    local met_side, met_outcome = order.side(kind), order.outcome(kind)
    local met_yes = book.yes_price(own, met_outcome)
    local met_price, met_value, tokens = book.yes_price(met_yes, outcome), size * own, size * ledger.MICRO_PER_LOT
    local value, fill_ms = size * met_price, math.max(now_ms, trade_ms)
    sequence = sequence + 1

    local held = redis.call('HMGET', KEYS[6], maker, met)
    local cash, met_cash, new_held, met_held
    if held[1] then
      yes_free, yes_reserved, no_free, no_reserved = struct.unpack(ledger.TOKENS, held[1])
    end
    if side == order.BUY then
      cash = ledger.cash_with(free, reserved, current, faucet_ms, -value, 0)
      new_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, tokens, 0)
    else
      cash = ledger.cash_with(free, reserved, current, faucet_ms, value, 0)
      new_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, -tokens, 0)
    end
    free, reserved, current, faucet_ms = struct.unpack(ledger.CASH, first_account)
    yes_free, yes_reserved, no_free, no_reserved = 0, 0, 0, 0
    if held[2] then
      yes_free, yes_reserved, no_free, no_reserved = struct.unpack(ledger.TOKENS, held[2])
    end
    if met_side == order.BUY then
      met_cash = ledger.cash_with(free, reserved, current, faucet_ms, 0, -met_value)
      met_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, met_outcome, tokens, 0)
    else
      met_cash = ledger.cash_with(free, reserved, current, faucet_ms, met_value, 0)
      met_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, met_outcome, 0, -tokens)
    end
    if side == met_side then
      sets = side == order.BUY and sets + tokens or sets - tokens
    end
    local lots, orders = struct.unpack(book.TOTAL, found[3])
    lots, orders = lots - size, left == 0 and orders - 1 or orders
    liquidity, volume = liquidity - met_value, book.volume_with(volume, value)
    local state = book.pack_state(status, mode, sequence, liquidity, fill_ms, volume, sets, met_yes)
    local record = struct.pack(order.HEAD, now_ms, sequence) .. ARGV[3]
      .. struct.pack(order.CHANGES, order.REASON_NONE, size, value, now_ms, fill_ms, sequence, 1,
        order.FILLED_STATUS)
    local fills = trades.one(ARGV[2], side, outcome, first_hash, met_price, size, trades.type_of(side, met_side), chain_ms,
      chain_sequence)

    -- From here on nothing may fail.
    redis.call('HSET', KEYS[4], ARGV[2], record, first_hash, body .. struct.pack(order.CHANGES, order.REASON_NONE,
      filled + size, quote + met_value, now_ms, fill_ms, sequence, met_fills + 1,
      left == 0 and order.FILLED_STATUS or order.PARTIALLY_FILLED))
    redis.call('ZADD', KEYS[7], integer.text(-order.rank(now_ms, sequence)), ARGV[2])
    if left == 0 then
      redis.call('ZREMRANGEBYRANK', opposite, '0', '0')
      redis.call('ZADD', ARGV[4] .. 'u:' .. met, integer.text(-order.rank(created, number)), first_hash)
      if met_expiration > 0 then
        redis.call('ZREM', ARGV[4] .. 'exp', first_hash)
      end
    end
    if orders == 0 then
      redis.call('HSET', KEYS[1], 's', state)
      redis.call('HDEL', KEYS[1], best_level)
    else
      redis.call('HSET', KEYS[1], 's', state, best_level, struct.pack(book.TOTAL, lots, orders))
    end
    redis.call('HSET', KEYS[5], maker, cash, met, met_cash)
    redis.call('HSET', KEYS[6], maker, new_held, met, met_held)
    if not (held[1] and held[2]) then
      tables.make(KEYS[6])
    end
    if not held[1] then
      redis.call('SADD', ARGV[4] .. 'w:' .. maker, market)
    end
    if not held[2] then
      redis.call('SADD', ARGV[4] .. 'w:' .. met, market)
    end
    redis.call('XADD', KEYS[1] .. ':t', trades.id(fill_ms, sequence), 'f', fills)
    redis.call('XADD', KEYS[8], '*', 'e', outbox.one_match(market, sequence, now_ms, fill_ms, best_level, met_yes, lots,
      orders, ARGV[2], first_hash))
    return { 'BOOKED', record, fills }
  end
end

if best_level or dry_run == 1 or order_type ~= order.GTC and order_type ~= order.POST_ONLY or not account then
  local matching = require('lib.matching')
  local plan = require('lib.plan')
  local q = { side, outcome, order_type, prevention, price, size, budget, expiration, bps, makers_max, grant, lot, market,
    maker, now_ms, is_budget, opposite, limit }
  local b = { status, mode, sequence, liquidity, trade_ms, volume, sets, last, KEYS[1], market, {}, {},
    { [level] = found[2] or '', [best_level or ''] = found[3] } }
  if not first and redis.call('HEXISTS', KEYS[4], ARGV[2]) == 1 then
    return refuse(now_ms, 'REPLAYED')
  end
  local p = plan.make(q, b, first_hash, first, found[3], plan.NOWHERE)
  if p[plan.STALE] > plan.STALE_MAX then
    local orders = require('lib.orders')
    return orders.clear(ARGV[4], market, p[plan.HASHES], p[plan.COUNT] + 1, now_ms)
  end
  local taker_status, reason, explanation = matching.verdict(q, p)
  if not taker_status then
    return refuse(now_ms, reason, explanation)
  end
  if bps > 0 and p[plan.FILLS] > 0 then
    local charge = require('lib.charge')
    charge.fees(q, p)
  end
  local record, fills = matching.pack(q, p, taker_status, reason)
  if dry_run ~= 1 then
    local accounts, wallets, rest = matching.prepare(q, b, p, taker_status)
    matching.write(q, b, p, record, fills, accounts, wallets, rest)
  end
  return { 'BOOKED', record, fills }
end

-- It rests.
local account_key, reserving = KEYS[5]
if side == order.BUY then
  reserving = ledger.cash_with(free, reserved, current, faucet_ms, -required, required)
else
  account_key = KEYS[6]
  reserving = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, -required, required)
end
sequence, liquidity = sequence + 1, liquidity + size * price
local state = book.pack_state(status, mode, sequence, liquidity, trade_ms, volume, sets, last)

-- From here on nothing may fail.
local packed = struct.pack(order.HEAD, now_ms, sequence) .. ARGV[3]
if redis.call('HSETNX', KEYS[4], ARGV[2], packed) == 0 then
  return refuse(now_ms, 'REPLAYED')
end
local lots, orders = size, 1
if found[2] then
  lots, orders = struct.unpack(book.TOTAL, found[2])
  lots, orders = lots + size, orders + 1
end
redis.call('HSET', KEYS[1], 's', state, level, struct.pack(book.TOTAL, lots, orders))
redis.call('ZADD', own_key, score, book.member(sequence, ARGV[2]))
redis.call('ZADD', KEYS[7], integer.text(order.rank(now_ms, sequence)), ARGV[2])
if expiration > 0 then
  redis.call('ZADD', ARGV[4] .. 'exp', integer.text(expiration), ARGV[2])
end
redis.call('HSET', account_key, maker, reserving)
redis.call('XADD', KEYS[8], '*', 'e',
  outbox.one_order(outbox.ORDER, market, sequence, now_ms, level, yes, lots, orders, ARGV[2]))
return packed
