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
local outbox = require('lib.outbox')

local REQUEST = '>BBBBI2I6I7I6I5I4I2I2I7BI6c8c20'
-- Places of its members in the unpacked request `q`, and behind them what follows from these.
local SIDE, OUTCOME, TYPE, PREVENTION, PRICE, SIZE, BUDGET, DEADLINE = 1, 2, 3, 4, 5, 6, 7, 8
local EXPIRATION, NONCE, BPS, MAKERS_MAX, GRANT, DRY_RUN, LOT, MARKET, MAKER = 9, 10, 11, 12, 13, 14, 15, 16, 17
local YES_PRICE, IS_BUDGET, NOW = 18, 19, 20

local STALE_MAX = 200
-- Makers are read in growing steps: most submissions meet none or one.
local FIRST_STEP, LAST_STEP, STEP_GROWTH = 2, 128, 4
local CANCEL_TAKER, CANCEL_MAKER = 1, 2

-- A retried duplicate must be recognised before any refusal: it was accepted once.
local function refuse(q, code, ...)
  local stored = redis.call('HGET', KEYS[5], ARGV[2])
  if stored then
    return { 'REPLAYED', integer.text(q[NOW]), stored }
  end
  return { code, integer.text(q[NOW]), ... }
end

-- Refusals in the order of the contract; nil when the order may meet the book. What must be free before it may match:
-- limit x size, or the budget, or the tokens.
local function objection(q, b)
  local current = ledger.nonce(q[MAKER])
  if q[NONCE] ~= current then
    return refuse(q, 'INVALID_NONCE_VALUE', integer.text(current))
  end
  if q[EXPIRATION] > 0 and q[NOW] >= q[EXPIRATION] * 1000 then
    return refuse(q, 'ORDER_EXPIRED')
  end
  if b[book.STATUS] ~= book.OPEN then
    return refuse(q, 'MARKET_NOT_OPEN', b[book.STATUS])
  end
  if b[book.MODE] ~= book.NORMAL then
    return refuse(q, b[book.MODE] == book.CANCEL_ONLY and 'CANCEL_ONLY' or 'HALTED')
  end
  if q[DEADLINE] > 0 and q[NOW] >= q[DEADLINE] then
    return refuse(q, 'DEADLINE_EXCEEDED')
  end
  local required, available, asset
  if q[SIDE] == order.BUY then
    required = q[IS_BUDGET] and q[BUDGET] or q[SIZE] * q[PRICE]
    available, asset = ledger.free_cash(q[MAKER]), ledger.COLLATERAL
  else
    required = q[SIZE] * ledger.MICRO_PER_LOT
    available, asset = ledger.free_tokens(q[MARKET], q[MAKER], q[OUTCOME]), ledger.YES + q[OUTCOME]
  end
  if available < required then
    return refuse(q, 'INSUFFICIENT_BALANCE', integer.text(required), integer.text(available), asset)
  end
end

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
-- Returns nil when there is nobody to meet.
local function walk(q)
  local is_bid = q[SIDE] == q[OUTCOME]
  local opposite = is_bid and KEYS[3] or KEYS[2]
  local limit, from, step = is_bid and q[YES_PRICE] .. '' or '-' .. q[YES_PRICE], 0, FIRST_STEP
  local plan
  while true do
    local members = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'LIMIT', from, step)
    local n = #members
    if n == 0 then
      return plan
    end
    plan = plan or { makers = {}, lots = {}, prices = {}, stale = {}, stopped = {}, filled = 0, quote = 0,
      left = q[IS_BUDGET] and math.huge or q[SIZE], opposite = opposite }
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
  end
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

-- What meeting others takes, built only by the submissions that do: three steps of the same plan.
local function encounter(q, b, plan)
  local orders = require('lib.orders')
  local trades = require('lib.trades')

  -- The makers in the way that have expired, expired in their own right.
  local function expire()
    orders.load_accounts(q[MARKET], plan.stale, {})
    b[book.SEQUENCE] = b[book.SEQUENCE] + 1
    orders.retire(b, plan.stale, order.EXPIRED, order.REASON_EXPIRED, q[NOW])
    local levels, count = book.write(b)
    local hashes = orders.save(ARGV[4], plan.stale)
    ledger.write()
    outbox.write(ARGV[4], outbox.EXPIRE, q[MARKET], b[book.SEQUENCE], q[NOW], 0, levels, count, hashes, '')
    return { 'AGAIN', integer.text(q[NOW]) }
  end

  -- Reads everybody's accounts and works out fees; gives the match as the stream keeps it.
  local function prepare()
    local others, n = {}, 0
    for _, list in ipairs({ plan.makers, plan.stale, plan.stopped }) do
      for i = 1, #list do
        n = n + 1
        others[n] = list[i]
      end
    end
    plan.others = others
    orders.load_accounts(q[MARKET], others, q[BPS] > 0 and { q[MAKER], ledger.FEE } or { q[MAKER] })
    if not plan.makers[1] then
      return ''
    end
    b[book.TRADE_MS] = math.max(q[NOW], b[book.TRADE_MS])
    if q[BPS] > 0 then
      trades.charge(plan, q[BPS], q[SIDE], q[PRICE], not q[IS_BUDGET])
    end
    return trades.pack(plan, ARGV[2], q[SIDE], q[OUTCOME])
  end

  -- Fills, expiries and cancellations on the way. Returns the hashes of everybody met.
  local function settle(packed_fills)
    if plan.makers[1] then
      trades.settle(b, plan, q[MAKER], q[SIDE], q[OUTCOME], q[NOW])
      trades.write(b, packed_fills)
    end
    orders.retire(b, plan.stale, order.EXPIRED, order.REASON_EXPIRED, q[NOW])
    orders.retire(b, plan.stopped, order.CANCELLED, order.REASON_SELF_TRADE, q[NOW])
    -- All that leave stand at the front of their side, with at most one partly filled maker behind them.
    b[book.BIDS], b[book.ASKS] = {}, {}
    local others, last = plan.others, plan.makers[#plan.makers]
    local leaving = last and last[order.STATUS] == order.PARTIALLY_FILLED and #others - 1 or #others
    if leaving > 0 then
      redis.call('ZREMRANGEBYRANK', plan.opposite, '0', leaving - 1)
    end
    return orders.save(ARGV[4], others)
  end

  return expire, prepare, settle
end

-- Books the taker's own part, and everything that the script has changed. Nothing here may fail.
local function commit(q, b, record, met, traded)
  local rank = order.rank(record)
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

local q = { struct.unpack(REQUEST, ARGV[1]) }
q[YES_PRICE] = book.yes_price(q[PRICE], q[OUTCOME])
q[IS_BUDGET] = q[TYPE] == order.MARKET_TYPE and q[SIDE] == order.BUY
q[NOW] = outbox.now_ms()
local b = book.open(ARGV[4], q[MARKET], (q[SIDE] == q[OUTCOME] and 'b' or 'a') .. q[YES_PRICE])
if not b then
  return refuse(q, 'MARKET_NOT_FOUND')
end
ledger.open(ARGV[4], q[GRANT])
ledger.load_cash({ q[MAKER] })
if q[SIDE] == order.SELL then
  ledger.load_tokens(q[MARKET], { q[MAKER] })
end
local refusal = objection(q, b)
if refusal then
  return refusal
end

local plan = walk(q)
local filled, quote, expire, prepare, settle = 0, 0, nil, nil, nil
if plan then
  expire, prepare, settle = encounter(q, b, plan)
  filled, quote = plan.filled, plan.quote
  if #plan.stale > STALE_MAX then
    return expire()
  end
end
local status, reason, explanation = verdict(q, filled, plan and plan.stop, plan and plan.best)
if not status then
  return refuse(q, reason, explanation)
end
b[book.SEQUENCE] = b[book.SEQUENCE] + 1
local packed_fills = prepare and prepare() or ''
local traded = packed_fills ~= ''
local record = { status, reason, order.kind(q[TYPE], q[SIDE], q[OUTCOME]), 0, q[PRICE],
  q[IS_BUDGET] and math.max(q[SIZE], filled) or q[SIZE], filled, quote, q[NOW], q[NOW], b[book.SEQUENCE],
  q[EXPIRATION], traded and b[book.TRADE_MS] or 0, traded and b[book.SEQUENCE] or 0, q[MARKET], q[MAKER], ARGV[3],
  ARGV[2] }
local packed = order.pack(record)
if q[DRY_RUN] == 1 and redis.call('HEXISTS', KEYS[5], ARGV[2]) == 0 then
  return { 'BOOKED', integer.text(q[NOW]), packed, packed_fills }
end
if q[DRY_RUN] == 1 or redis.call('HSETNX', KEYS[5], ARGV[2], packed) == 0 then
  return refuse(q, 'REPLAYED')
end
commit(q, b, record, settle and settle(packed_fills) or '', traded)
return { 'BOOKED', integer.text(q[NOW]), packed, packed_fills }
