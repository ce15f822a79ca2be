-- What a submission would do: everybody it would meet, best price first and oldest first within a price. Reads, and writes
-- nothing.
--
-- Works on the keys and arguments of place_order and replace_order, their request `q` (lib/request) and the open book `b`,
-- whose levels and liquidity change in memory. There is no table for each maker: what a maker leaves behind goes into flat
-- lists, most of them the arguments of commands to come.

local book = require('lib.book')
local integer = require('lib.integer')
local order = require('lib.order')
local request = require('lib.request')
local trades = require('lib.trades')

local plan = {}

-- Lots left to fill, the value of those filled in the taker's token, fills, the latest one's price, lots of sets minted or
-- merged.
plan.LEFT, plan.QUOTE, plan.FILLS, plan.LAST_PRICE, plan.SETS = 1, 2, 3, 4, 5
-- Makers met, the expired ones of them; the reason to stop, and the price a POST_ONLY order would trade at.
plan.COUNT, plan.STALE, plan.STOP, plan.BEST = 6, 7, 8, 9
-- The time and number of this match; the fees of the makers and of the taker (lib/charge).
plan.FILL_MS, plan.SEQUENCE, plan.FEES, plan.CHARGED = 10, 11, 12, 13
-- Hashes, the taker's first; arguments of HSET with the records, the taker's first; the parts of the packed match, its head
-- first.
plan.HASHES, plan.RECORDS, plan.PACKED = 14, 15, 16
-- By maker: wallet, kind, price in its own token, lots filled, lots given back; of those that leave the place in the index
-- of their wallet, and which maker of the same wallet left before.
plan.SLOTS, plan.KINDS, plan.PRICES, plan.LOTS, plan.BACKS, plan.RANKS, plan.OLDER = 17, 18, 19, 20, 21, 22, 23
-- Wallets: how many, their addresses (the taker's first), places by address, who left last; makers that had an expiration.
plan.WALLETS, plan.ADDRESSES, plan.SLOT_OF, plan.NEWEST, plan.EXPIRING = 24, 25, 26, 27, 28
-- Lots filled, when the walk has ended.
plan.FILLED = 29

plan.STALE_MAX = 200
-- A place behind every order of a side.
plan.NOWHERE = 9007199254740992
-- Makers read at once, at most.
local STEP_MAX = 128
-- Stands for the size of an order that has a budget instead.
local INFINITE = 9007199254740992
local CANCEL_TAKER, CANCEL_MAKER = 1, 2

-- How many lots of a maker trade, when there is more to ask than how much it has; or 0, and the status and reason it ends
-- with; nil when the walk ends before it. `met` makers came before it.
local function consider(q, p, met, maker, expiration, rest, price, lots)
  if order.is_stale(expiration, q[request.NOW]) then
    p[plan.STALE] = p[plan.STALE] + 1
    return 0, order.EXPIRED, order.REASON_EXPIRED
  end
  if q[request.IS_BUDGET] then
    lots = math.floor((q[request.BUDGET] - p[plan.QUOTE]) / (price * q[request.LOT])) * q[request.LOT]
    lots = math.min(lots, rest)
    if lots == 0 then
      return nil
    end
  end
  if q[request.TYPE] == order.POST_ONLY then
    p[plan.BEST] = price
    return nil
  end
  if met - p[plan.STALE] >= q[request.MAKERS_MAX] then
    p[plan.STOP] = order.REASON_MATCH_LIMIT
    return nil
  end
  local prevention = q[request.PREVENTION]
  if prevention > 0 and maker == q[request.MAKER] then
    p[plan.STOP] = prevention ~= CANCEL_MAKER and order.REASON_SELF_TRADE or nil
    if prevention == CANCEL_TAKER then
      return nil
    end
    return 0, order.CANCELLED, order.REASON_SELF_TRADE
  end
  return lots, nil, order.REASON_NONE
end

-- The wallet's place in the plan.
local function enlist(p, maker)
  local slot = p[plan.WALLETS] + 1
  p[plan.WALLETS], p[plan.SLOT_OF][maker], p[plan.ADDRESSES][slot] = slot, slot, maker
  return slot
end

-- Takes lots and orders off a level of the other side.
local function lower(q, b, yes, lots, orders)
  if lots > 0 then
    book.change(b, q[request.SIDE] == q[request.OUTCOME] and -yes or yes, -lots, -orders)
  end
end

-- Meets the makers number `from` to `to`, whose records are given. Returns true when the walk ends with one of them.
local function meet(q, b, p, records, from, to)
  local pack, parse, side, outcome, now_ms = struct.pack, struct.unpack, q[request.SIDE], q[request.OUTCOME], q[request.NOW]
  local hashes, written, matched, slot_of = p[plan.HASHES], p[plan.RECORDS], p[plan.PACKED], p[plan.SLOT_OF]
  local slots, kinds, prices, lots_of = p[plan.SLOTS], p[plan.KINDS], p[plan.PRICES], p[plan.LOTS]
  local ranks, older, newest, left, fills = p[plan.RANKS], p[plan.OLDER], p[plan.NEWEST], p[plan.LEFT], p[plan.FILLS]
  local is_plain = q[request.PREVENTION] == 0 and q[request.TYPE] ~= order.POST_ONLY and not q[request.IS_BUDGET]
  local ended, level, level_lots, level_orders = false, 0, 0, 0
  for i = from, to do
    local packed, hash = records[i - from + 1], hashes[i + 1]
    local created, number, kind, own, size, expiration, maker = parse(order.BODY_IN_MARKET, packed)
    local _, filled, quote, chain_ms, chain_sequence, own_fills, body = nil, 0, 0, 0, 0, 0, packed
    if packed:byte(-1) ~= order.OPEN then
      _, filled, quote, _, chain_ms, chain_sequence, own_fills = order.changes(packed)
      body = order.body(packed)
    end
    local rest, yes = size - filled, book.yes_price(own, order.outcome(kind))
    local price, lots, gone, status, reason = book.yes_price(yes, outcome), left < rest and left or rest, rest, nil, 0
    if not is_plain or expiration > 0 or i > q[request.MAKERS_MAX] then
      lots, status, reason = consider(q, p, i - 1, maker, expiration, rest, price, lots)
      if not lots then
        ended = true
        break
      end
    end
    if status then
      p[plan.BACKS][i], ended = rest, p[plan.STOP] or p[plan.STALE] > plan.STALE_MAX
    else
      local maker_side = order.side(kind)
      fills, left, gone, status = fills + 1, left - lots, lots, lots == rest and order.FILLED_STATUS or order.PARTIALLY_FILLED
      matched[fills + 1] = pack(trades.FILL, hash, price, lots, trades.type_of(side, maker_side), 0, 0, chain_ms,
        chain_sequence)
      filled, quote, own_fills = filled + lots, quote + lots * own, own_fills + 1
      chain_ms, chain_sequence = p[plan.FILL_MS], p[plan.SEQUENCE]
      p[plan.QUOTE], p[plan.LAST_PRICE] = p[plan.QUOTE] + lots * price, price
      p[plan.SETS] = side == maker_side and p[plan.SETS] + lots or p[plan.SETS]
      -- Only the last maker met may keep something: a budget that cannot take it all ends here, too.
      ended = left == 0 or lots < rest
    end
    local slot = slot_of[maker] or enlist(p, maker)
    p[plan.COUNT], slots[i], kinds[i], prices[i], lots_of[i] = i, slot, kind, own, lots
    written[2 * i + 1], written[2 * i + 2] = hash, body
      .. pack(order.CHANGES, reason, filled, quote, now_ms, chain_ms, chain_sequence, own_fills, status)
    if yes ~= level then
      lower(q, b, level, level_lots, level_orders)
      level, level_lots, level_orders = yes, 0, 0
    end
    level_lots, b[book.LIQUIDITY] = level_lots + gone, b[book.LIQUIDITY] - gone * own
    if gone == rest then
      level_orders = level_orders + 1
      ranks[i], older[i], newest[slot] = integer.text(-order.rank(created, number)), newest[slot] or false, i
      if expiration > 0 then
        p[plan.EXPIRING][#p[plan.EXPIRING] + 1] = hash
      end
    end
    if ended then
      break
    end
  end
  lower(q, b, level, level_lots, level_orders)
  p[plan.LEFT], p[plan.FILLS] = left, fills
  return ended
end

-- How many makers to read next: as many as the taker needs if those to come are like those of the best level.
local function next_step(q, p, best_total)
  local lots, orders = struct.unpack(book.TOTAL, best_total)
  local left, quote = p[plan.LEFT], p[plan.QUOTE]
  if q[request.IS_BUDGET] then
    -- The budget left, at what the lots filled so far cost.
    left = (q[request.BUDGET] - quote) * (INFINITE - left) / math.max(1, quote)
  end
  return math.max(1, math.min(STEP_MAX, math.ceil(left * orders / lots)))
end

-- Walks the other side, whose first order has the given hash and record and whose best level the packed total; nil when
-- there is nobody to meet. The order at the place `gone` of that side is not there: what this one replaces; plan.NOWHERE
-- when there is none. Returns the plan.
function plan.make(q, b, hash, record, best_total, gone)
  local wanted = q[request.IS_BUDGET] and INFINITE or q[request.SIZE]
  local p = { wanted, 0, 0, nil, 0, 0, 0, nil, nil,
    math.max(q[request.NOW], b[book.TRADE_MS]), b[book.SEQUENCE] + 1, nil, 0,
    { ARGV[2], hash }, { ARGV[2], false, false, false }, { false, false }, {}, {}, {}, {}, {}, {}, {},
    1, { q[request.MAKER], false }, { [q[request.MAKER]] = 1 }, {}, {}, 0 }
  local hashes, records, from, n = p[plan.HASHES], { record }, 1, record and 1 or 0
  while n > 0 and not meet(q, b, p, records, from, from + n - 1) do
    local step = from == 1 and next_step(q, p, best_total) or STEP_MAX
    from = from + n
    local at = from - 1
    if at >= gone then
      at = from
    elseif at + step > gone then
      step = gone - at
    end
    local members = redis.call('ZRANGEBYSCORE', q[request.OPPOSITE], '-inf', q[request.LIMIT], 'LIMIT', at, step)
    n = #members
    for i = 1, n do
      members[i] = members[i]:sub(book.HASH_AT)
      hashes[from + i] = members[i]
    end
    records = n > 0 and redis.call('HMGET', KEYS[4], unpack(members))
  end
  p[plan.FILLED] = wanted - p[plan.LEFT]
  return p
end

return plan
