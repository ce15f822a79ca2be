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
-- Returns  { code, nowMs, ... }
--          BOOKED    record, fills (packed as in lib/trades)    booked, or with `dryRun` what would have been
--          REPLAYED  record                                     this hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired; run it again
--          a refusal code and what it explains, nothing changed:
--          MARKET_NOT_FOUND | MARKET_NOT_OPEN status | CANCEL_ONLY | HALTED | DEADLINE_EXCEEDED | ORDER_EXPIRED
--          INVALID_NONCE_VALUE current | INSUFFICIENT_BALANCE required available asset
--          POST_ONLY_WOULD_CROSS best | FOK_NOT_FILLED available | SELF_TRADE
-- Emits    ORDER, or TRADE when it matched; EXPIRE with AGAIN
-- Bound    makersMax makers met, STALE_MAX expired ones on the way

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local trades = require('lib.trades')

local REQUEST = '>BBBBI2I6I7I6I5I4I2I2I7BI6c8c20'
local STALE_MAX = 200
-- Makers are read in growing steps: most submissions meet none or one.
local FIRST_STEP, LAST_STEP, STEP_GROWTH = 2, 128, 4
local OPEN, NORMAL = 1, 0
local CANCEL_TAKER, CANCEL_BOTH = 1, 3

local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max,
  grant, dry_run, lot, market, maker = struct.unpack(REQUEST, ARGV[1])
local hash, tail, shard = ARGV[2], ARGV[3], ARGV[4]
local is_budget = order_type == order.MARKET_TYPE and side == order.BUY
local own_side = book.side_of(side, outcome)
local yes = book.yes_price(price, outcome)
local now_ms = outbox.now_ms()

-- A retried duplicate must be recognised before any refusal: it was accepted once.
local function refuse(code, ...)
  local stored = redis.call('HGET', KEYS[5], hash)
  if stored then
    return { 'REPLAYED', integer.text(now_ms), stored }
  end
  return { code, integer.text(now_ms), ... }
end

-- What must be free before the order may match: limit x size, or the budget, or the tokens.
local function shortage()
  local required, available, asset
  if side == order.BUY then
    required = is_budget and budget or size * price
    available, asset = ledger.free_cash(maker), ledger.COLLATERAL
  else
    required = size * ledger.MICRO_PER_LOT
    available, asset = ledger.free_tokens(market, maker, outcome), ledger.YES + outcome
  end
  if available < required then
    return integer.text(required), integer.text(available), asset
  end
end

-- One maker met. Returns true when the walk ends here.
local function meet(plan, resting)
  if order.is_stale(resting, now_ms) then
    plan.stale[#plan.stale + 1] = resting
    return #plan.stale > STALE_MAX
  end
  local own = trades.own_price(book.yes_price(resting[order.PRICE], order.outcome(resting)), outcome)
  local lots = math.min(plan.left, order.remaining(resting))
  if is_budget then
    lots = math.min(lots, math.floor((budget - plan.quote) / (own * lot)) * lot)
    if lots == 0 then
      return true
    end
  end
  if order_type == order.POST_ONLY then
    plan.best = own
    return true
  end
  if plan.met == makers_max then
    plan.stop = order.REASON_MATCH_LIMIT
    return true
  end
  if prevention > 0 and resting[order.MAKER] == maker then
    if prevention ~= CANCEL_TAKER then
      plan.stopped[#plan.stopped + 1], plan.met = resting, plan.met + 1
    end
    if prevention == CANCEL_TAKER or prevention == CANCEL_BOTH then
      plan.stop = order.REASON_SELF_TRADE
      return true
    end
    return false
  end
  plan.fills[#plan.fills + 1] = { maker = resting, lots = lots, price = own, type = trades.type_of(side, order.side(resting)) }
  plan.met, plan.left, plan.filled = plan.met + 1, plan.left - lots, plan.filled + lots
  plan.quote = plan.quote + lots * own
  return plan.left == 0
end

-- Walks the other side, best price first and oldest first within a price, and plans; changes nothing.
local function walk()
  local plan = { fills = {}, stale = {}, stopped = {}, met = 0, filled = 0, quote = 0, left = is_budget and math.huge or size }
  local opposite, limit = KEYS[3], yes .. ''
  if own_side == 'a' then
    opposite, limit = KEYS[2], '-' .. yes
  end
  local from, step = 0, FIRST_STEP
  while true do
    local members = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'LIMIT', from, step)
    local n = #members
    if n == 0 then
      return plan
    end
    for i = 1, n do
      members[i] = members[i]:sub(7)
    end
    local resting = orders.load(shard, members)
    for i = 1, n do
      if meet(plan, resting[i]) then
        return plan
      end
    end
    if n < step then
      return plan
    end
    from, step = from + n, math.min(step * STEP_GROWTH, LAST_STEP)
  end
end

-- Status and reason the walk leaves the taker with; nil for a refusal, then its code and explanation.
local function verdict(plan)
  if plan.best then
    return nil, 'POST_ONLY_WOULD_CROSS', plan.best
  end
  if is_budget then
    if plan.filled >= size then
      return order.FILLED_STATUS, order.REASON_NONE
    end
    return order.CANCELLED, plan.stop or order.REASON_MARKET
  end
  if plan.filled == size then
    return order.FILLED_STATUS, order.REASON_NONE
  end
  if order_type == order.FOK then
    if plan.stop == order.REASON_SELF_TRADE then
      return nil, 'SELF_TRADE'
    end
    return nil, 'FOK_NOT_FILLED', integer.text(plan.filled)
  end
  if plan.stop then
    return order.CANCELLED, plan.stop
  end
  if order_type == order.IOC then
    return order.CANCELLED, order.REASON_IOC
  end
  if order_type == order.MARKET_TYPE then
    return order.CANCELLED, order.REASON_MARKET
  end
  return plan.filled > 0 and order.PARTIALLY_FILLED or order.OPEN, order.REASON_NONE
end

-- The makers in the way that have expired, expired in their own right.
local function expire(b, stale)
  orders.load_accounts(market, stale, { maker })
  b.sequence = b.sequence + 1
  orders.retire(b, stale, order.EXPIRED, order.REASON_EXPIRED, now_ms)
  local changed = book.write(b)
  orders.save(shard, stale)
  ledger.write()
  outbox.write(KEYS[10], outbox.EXPIRE, market, b.sequence, now_ms, 0, changed, orders.hashes(stale, {}), {})
  return { 'AGAIN', integer.text(now_ms) }
end

-- Reads the accounts of everybody the plan touches.
local function load_accounts(plan)
  local resting = {}
  for i = 1, #plan.fills do
    resting[i] = plan.fills[i].maker
  end
  for _, list in ipairs({ plan.stale, plan.stopped }) do
    for i = 1, #list do
      resting[#resting + 1] = list[i]
    end
  end
  orders.load_accounts(market, resting, bps > 0 and { maker, ledger.FEE } or { maker })
end

-- Everything is decided; from here on nothing may fail.
local function commit(b, plan, record, packed_fills, trade_ms)
  local touched = { record }
  if #plan.fills > 0 then
    local sets = trades.settle(market, maker, side, outcome, plan.fills)
    local makers = trades.record(plan.fills, trade_ms, b.sequence, now_ms)
    local volume = tonumber(b.values[6]) + plan.quote
    b.extra = { 'lp', book.yes_price(plan.fills[#plan.fills].price, outcome) .. '', 'lt', integer.text(trade_ms),
      'vol', integer.text(volume), 'oi', integer.text(tonumber(b.values[7]) + sets) }
    for i = 1, #makers do
      local leaves = order.is_final(makers[i])
      book.take(b, makers[i], plan.fills[i].lots, leaves)
      if leaves then
        book.drop(b, makers[i])
      end
      touched[i + 1] = makers[i]
    end
    trades.write(KEYS[4], trade_ms, b.sequence, packed_fills)
  end
  orders.retire(b, plan.stale, order.EXPIRED, order.REASON_EXPIRED, now_ms)
  orders.retire(b, plan.stopped, order.CANCELLED, order.REASON_SELF_TRADE, now_ms)
  if not order.is_final(record) then
    book.rest(b, record)
    ledger.reserve(market, maker, side, outcome, order.remaining(record), price)
    redis.call('ZADD', KEYS[8], integer.text(order.rank(record)), hash)
    if expiration > 0 then
      redis.call('ZADD', KEYS[9], integer.text(expiration), hash)
    end
  else
    redis.call('ZADD', KEYS[8], integer.text(-order.rank(record)), hash)
  end
  local changed = book.write(b)
  local others = {}
  for _, list in ipairs({ touched, plan.stale, plan.stopped }) do
    for i = list == touched and 2 or 1, #list do
      others[#others + 1] = list[i]
    end
  end
  orders.save(shard, others)
  ledger.write()
  local kind = #plan.fills > 0 and outbox.TRADE or outbox.ORDER
  outbox.write(KEYS[10], kind, market, b.sequence, now_ms, #plan.fills > 0 and trade_ms or 0, changed,
    orders.hashes(others, { hash }), {})
end

-- Refusals in the order of the contract; nil when the order may meet the book.
local function objection(b)
  if nonce ~= ledger.nonce(maker) then
    return refuse('INVALID_NONCE_VALUE', integer.text(ledger.nonce(maker)))
  end
  if expiration > 0 and now_ms >= expiration * 1000 then
    return refuse('ORDER_EXPIRED')
  end
  if b.status ~= OPEN then
    return refuse('MARKET_NOT_OPEN', b.status)
  end
  if b.mode ~= NORMAL then
    return refuse(b.mode == 1 and 'CANCEL_ONLY' or 'HALTED')
  end
  if deadline_ms > 0 and now_ms >= deadline_ms then
    return refuse('DEADLINE_EXCEEDED')
  end
  local required, available, asset = shortage()
  if required then
    return refuse('INSUFFICIENT_BALANCE', required, available, asset)
  end
end

local level = own_side .. yes
local b = book.open(shard, market, { 'lt', 'vol', 'oi', level })
if not b then
  return refuse('MARKET_NOT_FOUND')
end
book.know(b, level, b.values[8])
ledger.open(shard, grant)
ledger.load_cash({ maker })
if side == order.SELL then
  ledger.load_tokens(market, { maker })
end
local refusal = objection(b)
if refusal then
  return refusal
end

local plan = walk()
if #plan.stale > STALE_MAX then
  return expire(b, plan.stale)
end
local status, reason, explanation = verdict(plan)
if not status then
  return refuse(reason, explanation)
end
b.sequence = b.sequence + 1
local fills = #plan.fills
local trade_ms = fills > 0 and math.max(now_ms, tonumber(b.values[5])) or 0
local packed_fills = ''
if fills > 0 then
  trades.charge(plan.fills, bps, side, price, not is_budget)
  packed_fills = trades.pack(hash, side, outcome, plan.fills)
end
local record = { status, reason, order.kind(order_type, side, outcome), 0, price,
  is_budget and math.max(size, plan.filled) or size, plan.filled, plan.quote, now_ms, now_ms, b.sequence, expiration,
  trade_ms, fills > 0 and b.sequence or 0, market, maker, tail, hash }
local packed = order.pack(record)
if dry_run == 1 then
  local stored = redis.call('HGET', KEYS[5], hash)
  return stored and { 'REPLAYED', integer.text(now_ms), stored } or { 'BOOKED', integer.text(now_ms), packed, packed_fills }
end
if fills + #plan.stale + #plan.stopped > 0 then
  load_accounts(plan)
end
if redis.call('HSETNX', KEYS[5], hash, packed) == 0 then
  return refuse('DUPLICATE')
end
commit(b, plan, record, packed_fills, trade_ms)
return { 'BOOKED', integer.text(now_ms), packed, packed_fills }
