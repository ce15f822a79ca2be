#!lua
-- place_order: books one signed order. It matches the order against the book, rests the remaining lots, moves the money and
-- writes to the outbox: all of it or nothing, and only once for each order hash.
--
-- KEYS     1 {x}:m:<id>       the market: status, sequence, levels (lib/book)
--          2 {x}:m:<id>:b     bids
--          3 {x}:m:<id>:a     asks
--          4 {x}:o            orders (lib/orders)
--          5 {x}:bal          collateral accounts (lib/ledger)
--          6 {x}:u:<address>  the taker's orders
--          7 {x}:out          the outbox (lib/outbox)
--          and, as needed, the market's token accounts {x}:m:<id>:bal and matches {x}:m:<id>:t (lib/trades), the makers'
--          orders, the closing times {x}:closes, the expiries {x}:exp and a new holder's markets {x}:w:<address>, all in
--          this slot; they are not passed because each key passed takes time
-- ARGV     1 request, packed (lib/request; src/store/verbs/place.ts packs it)
--          2 order hash, 32 bytes
--          3 the submitter's part of the record's body, from the kind to the signed order (lib/order)
--          4... behind GONE, its nowMs: then the archive did not have this order
-- Returns  the record, when the order rested and met no order; { BOOKED, record, fills }, when it was booked otherwise,
--          or with `dryRun` would have been (fills packed as in lib/trades). The record's time is nowMs.
--          Else { code, nowMs, ... }
--          REPLAYED  record                                     this hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired or invalidated; run it again
--          GONE                                                 the market has the trace of this order: ask the archive for it
--          a refusal code and its detail, nothing changed:
--          MARKET_NOT_FOUND | MARKET_NOT_OPEN status | CANCEL_ONLY | HALTED | DEADLINE_EXCEEDED | ORDER_EXPIRED
--          INVALID_NONCE_VALUE current | INSUFFICIENT_BALANCE required available asset
--          POST_ONLY_WOULD_CROSS best | FOK_NOT_FILLED available | SELF_TRADE
-- Emits    ORDER, or TRADE when it matched, and before it BALANCE with the grant of a new wallet; EXPIRE or CANCEL with AGAIN
-- Bound    makersMax makers met, and STALE_MAX expired or invalid ones before them (lib/matching)

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local request = require('lib.request')

-- A refusal, unless the order was booked before.
local function refuse(now_ms, code, ...)
  local stored = redis.call('HGET', KEYS[4], ARGV[2])
  if stored then
    return request.replayed(now_ms, stored)
  end
  return { code, integer.text(now_ms), ... }
end

local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max, grant,
  dry_run, lot, market, maker, yes = struct.unpack(request.PACKED, ARGV[1])
local is_bid, is_budget = side == outcome, order_type == order.MARKET_TYPE and side == order.BUY
local time = redis.call('TIME')
local now_ms = outbox.ms_of(time)

-- Read the best order of the other side within the limit, the market's state, and the levels that will change.
local own_key, level, score = KEYS[3], (is_bid and 'b' or 'a') .. yes, yes
local opposite, limit = KEYS[2], '-' .. yes
if is_bid then
  own_key, score, opposite, limit = opposite, limit, own_key, yes
end
local best = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'WITHSCORES', 'LIMIT', '0', '1')
local best_level = best[2] and (is_bid and 'a' .. best[2] or 'b' .. best[2]:sub(2))
local found = best_level and redis.call('HMGET', KEYS[1], 's', level, 'g', best_level)
  or redis.call('HMGET', KEYS[1], 's', level, 'g')
local objection = not found[1] and 'MARKET_NOT_FOUND'
if found[3] then
  local gone = require('lib.gone')
  objection = gone.objection(KEYS[1], found[3], ARGV[2], expiration, now_ms, tonumber(ARGV[4]))
end
if objection then
  return refuse(now_ms, objection)
end
local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, found[1])
-- Read the first order of the other side, and the accounts of both wallets.
local account, first, first_hash, first_account, held
if best_level then
  first_hash = best[1]:sub(book.HASH_AT)
  local stored = redis.call('HMGET', KEYS[4], first_hash, ARGV[2])
  if stored[2] then
    return request.replayed(now_ms, stored[2])
  end
  first = stored[1]
  local accounts = redis.call('HMGET', KEYS[5], maker, first:sub(order.MAKER_FROM, order.MAKER_TO))
  account, first_account = accounts[1], accounts[2]
else
  account = redis.call('HGET', KEYS[5], maker)
end

-- Refuse. The amount that must be free before the order may match is limit x size, the budget, or the tokens.
local free, reserved, current, faucet_ms = grant, 0, 0, 0
if account then
  free, reserved, current, faucet_ms = ledger.open_cash(account)
end
local status_now = agenda.status(outbox.shard_of(KEYS[7]), market, status, now_ms)
objection = request.objection(nonce, current, expiration, now_ms, status_now, mode, deadline_ms)
if objection then
  return refuse(now_ms, objection, request.detail_of(objection, current, status_now))
end
local required, available, asset = size * price, free, ledger.COLLATERAL
if side == order.SELL then
  held = redis.call('HGET', KEYS[1] .. ':bal', maker)
  required, available, asset = size * ledger.MICRO_PER_LOT, held and ledger.free_of(held, outcome) or 0, ledger.YES + outcome
elseif is_budget then
  required = budget
end
if available < required and dry_run < request.COVERED then
  return refuse(now_ms, 'INSUFFICIENT_BALANCE', integer.text(required), integer.text(available), asset)
end

-- Choose: the order is filled by one maker; or it meets several makers, or may not rest; or it rests.
if first and account and bps == 0 and dry_run == 0 and order_type ~= order.POST_ONLY and not is_budget then
  local straight = require('lib.straight')
  local record, fills = straight.match_one(now_ms, side, outcome, size, market, maker, opposite, best_level, found[4],
    status, mode, sequence, liquidity, trade_ms, volume, sets, first_hash, first,
    free, reserved, current, faucet_ms, first_account)
  if record then
    return { 'BOOKED', record, fills }
  end
end
if best_level or dry_run > 0 or order_type ~= order.GTC and order_type ~= order.POST_ONLY or not account then
  local matching = require('lib.matching')
  local stored = not first and redis.call('HGET', KEYS[4], ARGV[2])
  if stored then
    return request.replayed(now_ms, stored)
  end
  local shard = outbox.shard_of(KEYS[7])
  local q = request.of(side, outcome, order_type, prevention, price, size, budget, expiration, bps, makers_max, grant, lot,
    market, maker, now_ms, is_budget, opposite, limit, shard)
  local known = { [level] = found[2] or '', [best_level or ''] = found[4] }
  local b = book.of(status, mode, sequence, liquidity, trade_ms, volume, sets, last, KEYS[1], market, known)
  local reply, code, explanation = matching.sweep(q, b, first_hash, first, found[4], dry_run, nil)
  return reply or refuse(now_ms, code, explanation)
end
local straight = require('lib.straight')
local record = straight.rest(now_ms, side, outcome, price, size, expiration, market, maker, yes, own_key, level, score, found[2],
  status, mode, sequence, liquidity, trade_ms, volume, sets, last,
  free, reserved, current, faucet_ms, held)
return record or refuse(now_ms, 'REPLAYED')
