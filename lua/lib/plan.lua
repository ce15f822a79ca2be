-- The plan of a submission: the makers it would meet, best price first and oldest first within a price. This module reads
-- and does not write.
--
-- It works on the keys and arguments of place_order and replace_order, their request `q` (lib/request) and the open book `b`,
-- whose levels and liquidity change in memory. It makes no table for each maker: the results for the makers go into flat
-- lists, most of which are the arguments of later commands.

local book = require('lib.book')
local integer = require('lib.integer')
local order = require('lib.order')
local trades = require('lib.trades')

local plan = {}

-- A plan `p` is a table (last_price, stop, best and fees are absent until there is one):
--   left, filled      lots left to fill; lots filled, once the walk has ended
--   quote, sets       the value of the filled lots in the taker's token (micro-units); lots of sets minted or merged
--   fills, last_price the number of fills; the price of the latest
--   count, stale      makers met; those among them that expired or whose nonce is too low
--   stop, best        the reason to stop; the price at which a POST_ONLY order would trade
--   any_raised        whether wallets have resting orders below their nonce (lua/invalidate_orders.lua)
--   fill_ms, sequence the time and the number of this match
--   fees, charged     the fees of the makers, by maker; the fee of the taker (lib/charge)
--   hashes            order hashes, the taker's first
--   records           arguments of HSET with the records, the taker's first
--   packed            the parts of the packed match, its head first
-- by maker:
--   slots, kinds      its wallet's slot; its kind
--   prices            its price, in its own token
--   lots, backs       lots filled; lots released
--   ranks, older      of a maker that leaves the book: its rank in the index of its wallet; the previous maker of the same
--                     wallet that leaves
--   before            the taker as its earlier steps left it (lib/booking); in the first step its creation time, and zeros
-- of wallets:
--   wallets           their number
--   addresses         by slot, the taker's first
--   slot_of           slot by address
--   newest            by slot: the last maker that leaves
--   expiring          hashes of leaving makers that had an expiration

plan.STALE_MAX = 200
-- A position after every order of a side.
plan.NOWHERE = 9007199254740992
-- The most makers read at once.
local STEP_MAX = 128
-- The size of an order that has a budget instead of a size.
local INFINITE = 9007199254740992
local CANCEL_TAKER, CANCEL_MAKER = 1, 2

-- Decides the cases in which a maker's lots alone do not. Returns the lots that trade; or 0 with the status and reason with
-- which the maker ends; or nil when the walk ends before this maker. `met` makers came before it. `is_void`: its nonce is too low.
local function consider(q, p, met, maker, expiration, is_void, rest, price, lots)
  if order.is_stale(expiration, q.now_ms) then
    p.stale = p.stale + 1
    return 0, order.EXPIRED, order.REASON_EXPIRED
  end
  if is_void then
    p.stale = p.stale + 1
    return 0, order.INVALIDATED, order.REASON_NONCE
  end
  if q.is_budget then
    lots = math.floor((q.budget - p.quote) / (price * q.lot)) * q.lot
    lots = math.min(lots, rest)
    if lots == 0 then
      return nil
    end
  end
  if q.type == order.POST_ONLY then
    p.best = price
    return nil
  end
  if met - p.stale >= q.makers_max then
    p.stop = order.REASON_MATCH_LIMIT
    return nil
  end
  local prevention = q.prevention
  if prevention > 0 and maker == q.maker then
    p.stop = prevention ~= CANCEL_MAKER and order.REASON_SELF_TRADE or nil
    if prevention == CANCEL_TAKER then
      return nil
    end
    return 0, order.CANCELLED, order.REASON_SELF_TRADE
  end
  return lots, nil, order.REASON_NONE
end

-- Adds a wallet to the plan and returns its slot.
local function enlist(p, maker)
  local slot = p.wallets + 1
  p.wallets, p.slot_of[maker], p.addresses[slot] = slot, slot, maker
  return slot
end

-- Subtracts lots and orders from a level of the other side.
local function lower(q, b, yes, lots, orders)
  if lots > 0 then
    book.change(b, q.side == q.outcome and -yes or yes, -lots, -orders)
  end
end

-- Returns the nonces below which orders of these records' wallets are still to be invalidated, as text, false where there is none.
local function raised_of(q, records)
  local makers = {}
  for i = 1, #records do
    makers[i] = records[i]:sub(order.MAKER_FROM, order.MAKER_TO)
  end
  return redis.call('HMGET', q.shard .. 'nn', unpack(makers))
end

-- Meets the makers number `from` to `to`, whose records are given. Returns true when the walk ends at one of them.
local function meet(q, b, p, records, from, to)
  local side, outcome, now_ms = q.side, q.outcome, q.now_ms
  local hashes, written, matched, slot_of = p.hashes, p.records, p.packed, p.slot_of
  local slots, kinds, prices, lots_of = p.slots, p.kinds, p.prices, p.lots
  local ranks, older, newest, left, fills = p.ranks, p.older, p.newest, p.left, p.fills
  local is_plain = q.prevention == 0 and q.type ~= order.POST_ONLY and not q.is_budget
  local fill_ms, sequence, makers_max, liquidity = p.fill_ms, p.sequence, q.makers_max, b.liquidity
  local ended, level, level_lots, level_orders = false, 0, 0, 0
  local raised = p.any_raised and raised_of(q, records)
  for i = from, to do
    local packed, hash = records[i - from + 1], hashes[i + 1]
    local created, number, kind, own, size, expiration, maker = struct.unpack(order.BODY_IN_MARKET, packed)
    local _, filled, quote, chain_ms, chain_sequence, own_fills, body = nil, 0, 0, 0, 0, 0, packed
    if packed:byte(-1) ~= order.OPEN then
      _, filled, quote, _, chain_ms, chain_sequence, own_fills = order.changes(packed)
      body = order.body(packed)
    end
    local rest, yes = size - filled, book.yes_price(own, order.outcome(kind))
    local price, lots, removed, status, reason = book.yes_price(yes, outcome), left < rest and left or rest, rest, nil, 0
    local least = raised and raised[i - from + 1]
    if not is_plain or expiration > 0 or i > makers_max or least then
      local is_void = least and order.nonce(body) < tonumber(least)
      lots, status, reason = consider(q, p, i - 1, maker, expiration, is_void, rest, price, lots)
      if not lots then
        ended = true
        break
      end
    end
    if status then
      p.backs[i], ended = rest, p.stop or p.stale > plan.STALE_MAX
    else
      local maker_side = order.side(kind)
      fills, left, removed, status = fills + 1, left - lots, lots, lots == rest and order.FILLED_STATUS or order.PARTIALLY_FILLED
      matched[fills + 1] = struct.pack(trades.FILL, hash, price, lots, trades.type_of(side, maker_side), 0, 0, chain_ms,
        chain_sequence)
      filled, quote, own_fills = filled + lots, quote + lots * own, own_fills + 1
      chain_ms, chain_sequence = fill_ms, sequence
      p.quote, p.last_price = p.quote + lots * price, price
      if side == maker_side then
        p.sets = p.sets + lots
      end
      -- Only the last maker can keep lots. A budget that cannot buy all lots of a maker ends here, too.
      ended = left == 0 or lots < rest
    end
    local slot = slot_of[maker] or enlist(p, maker)
    p.count, slots[i], kinds[i], prices[i], lots_of[i] = i, slot, kind, own, lots
    written[2 * i + 1], written[2 * i + 2] = hash, body
      .. struct.pack(order.CHANGES, reason, filled, quote, now_ms, chain_ms, chain_sequence, own_fills, status)
    if yes ~= level then
      lower(q, b, level, level_lots, level_orders)
      level, level_lots, level_orders = yes, 0, 0
    end
    level_lots, liquidity = level_lots + removed, liquidity - removed * own
    if removed == rest then
      level_orders = level_orders + 1
      ranks[i], older[i], newest[slot] = integer.text(-order.rank(created, number)), newest[slot] or false, i
      if expiration > 0 then
        p.expiring[#p.expiring + 1] = hash
      end
    end
    if ended then
      break
    end
  end
  lower(q, b, level, level_lots, level_orders)
  p.left, p.fills, b.liquidity = left, fills, liquidity
  return ended
end

-- The number of makers to read next: as many as the taker needs if the next makers are like those of the best level.
local function next_step(q, b, p, level)
  local lots, orders = struct.unpack(book.TOTAL, b.totals[level] or redis.call('HGET', KEYS[1], level))
  local left, quote = p.left, p.quote
  if q.is_budget then
    -- The lots that the rest of the budget buys, at the average price so far.
    left = (q.budget - quote) * (INFINITE - left) / math.max(1, quote)
  end
  return math.max(1, math.min(STEP_MAX, math.ceil(left * orders / lots)))
end

-- Walks the other side of the book and returns the plan. `first` is the first order there (lib/matching). `skipped` is the position
-- on that side of the order that this one replaces; plan.NOWHERE for none.
function plan.make(q, b, first, skipped)
  local wanted = q.is_budget and INFINITE or q.size
  -- A list that grows takes a new place at 1, 2, 4 and 8 members, so the lists of makers begin with room for eight.
  local p = {
    left = wanted, filled = 0, quote = 0, sets = 0, fills = 0, count = 0, stale = 0,
    fill_ms = math.max(q.now_ms, b.trade_ms), sequence = b.sequence + 1, charged = 0,
    before = q.before or { created = q.now_ms, filled = 0, quote = 0, fills = 0, fill_ms = 0, fill_sequence = 0 },
    hashes = { ARGV[2], first and first.hash, nil, nil, nil, nil, nil, nil }, records = { ARGV[2], false, nil, nil, nil, nil, nil, nil },
    packed = { false, nil, nil, nil, nil, nil, nil, nil }, slots = { nil, nil, nil, nil, nil, nil, nil, nil },
    kinds = { nil, nil, nil, nil, nil, nil, nil, nil }, prices = { nil, nil, nil, nil, nil, nil, nil, nil },
    lots = { nil, nil, nil, nil, nil, nil, nil, nil }, ranks = { nil, nil, nil, nil, nil, nil, nil, nil },
    older = { nil, nil, nil, nil, nil, nil, nil, nil }, backs = {},
    wallets = 1, addresses = { q.maker, nil, nil, nil, nil, nil, nil, nil }, slot_of = { [q.maker] = 1 }, newest = {},
    expiring = {},
  }
  -- Few wallets at a time raise their nonce, for some milliseconds, so the list is empty as a rule.
  p.any_raised = first and redis.call('EXISTS', q.shard .. 'nn') == 1
  local hashes, records, from, n = p.hashes, { first and first.record }, 1, first and 1 or 0
  while n > 0 and not meet(q, b, p, records, from, from + n - 1) do
    local step = from == 1 and next_step(q, b, p, first.level) or STEP_MAX
    from = from + n
    local at = from - 1
    if at >= skipped then
      at = from
    elseif at + step > skipped then
      step = skipped - at
    end
    local members = redis.call('ZRANGEBYSCORE', q.opposite, '-inf', q.limit, 'LIMIT', at, step)
    n = #members
    for i = 1, n do
      members[i] = members[i]:sub(book.HASH_AT)
      hashes[from + i] = members[i]
    end
    records = n > 0 and redis.call('HMGET', KEYS[4], unpack(members))
  end
  p.filled = wanted - p.left
  return p
end

return plan
