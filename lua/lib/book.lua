-- One market's book while a script works on it: its two sorted sets, its level totals, its sequence.
--
-- {x}:m:<id>     hash: st, md, q, lp, lt, vol, oi, liq, fee and the levels `b<pips>` / `a<pips>` -> open lots I7, orders I4
-- {x}:m:<id>:b   sorted set of bids, score -pips; member = sequence I6 + order hash: ascending is price, then time
-- {x}:m:<id>:a   sorted set of asks, score pips; the same
-- {x}:m:<id>:t   stream of matches, one entry for each submission that matched (lib/trades)
-- Prices are in Yes. A book is opened once per market and script, changed in memory and written once.

local integer = require('lib.integer')
local order = require('lib.order')

local book = {}

local ONE_PIPS = 10000
local LEVEL = '>I7I4'
local text = integer.text

-- `fields` are the further hash fields the caller wants; they come back in `values`, in that order.
-- Returns nil when there is no such market.
function book.open(shard, market, fields)
  local key = shard .. 'm:' .. market
  local values = redis.call('HMGET', key, 'st', 'md', 'q', 'liq', unpack(fields or {}))
  if not values[1] then
    return nil
  end
  return {
    shard = shard,
    market = market,
    key = key,
    status = tonumber(values[1]),
    mode = tonumber(values[2]),
    sequence = tonumber(values[3]),
    liquidity = tonumber(values[4]),
    values = values,
    levels = {},
    known = {},
    gone = { b = {}, a = {} },
    extra = {},
  }
end

-- 'b' for BUY Yes and SELL No, 'a' for the other two.
function book.side_of(side, outcome)
  return side == outcome and 'b' or 'a'
end

function book.yes_price(price, outcome)
  return outcome == 0 and price or ONE_PIPS - price
end

-- The stored total of a level the caller has read already, so that `write` need not.
function book.know(b, level, packed)
  b.known[level] = packed or ''
end

-- Changes a level's open lots and number of orders.
function book.change(b, level, lots, orders)
  local change = b.levels[level]
  if change then
    change[1], change[2] = change[1] + lots, change[2] + orders
  else
    b.levels[level] = { lots, orders }
  end
end

local function level_of(record)
  local outcome = order.outcome(record)
  return book.side_of(order.side(record), outcome), book.yes_price(record[order.PRICE], outcome)
end

function book.member(record)
  return struct.pack('>I6', record[order.SEQUENCE]) .. record[order.HASH]
end

-- Takes `lots` of a resting order off its level; `leaves` when the order goes with them.
function book.take(b, record, lots, leaves)
  local side, price = level_of(record)
  book.change(b, side .. price, -lots, leaves and -1 or 0)
  b.liquidity = b.liquidity - lots * record[order.PRICE]
end

-- Marks a resting order for removal from its sorted set.
function book.drop(b, record)
  local gone = b.gone[(level_of(record))]
  gone[#gone + 1] = book.member(record)
end

-- Rests an order's remainder.
function book.rest(b, record)
  local side, price = level_of(record)
  local lots = order.remaining(record)
  redis.call('ZADD', b.key .. ':' .. side, side == 'b' and '-' .. price or price .. '', book.member(record))
  book.change(b, side .. price, lots, 1)
  b.liquidity = b.liquidity + lots * record[order.PRICE]
end

-- Reads the totals of the changed levels and applies the changes; returns what the outbox tells.
local function totals(b)
  local unknown, n = {}, 0
  for level in pairs(b.levels) do
    if not b.known[level] then
      n = n + 1
      unknown[n] = level
    end
  end
  if n > 0 then
    local found = redis.call('HMGET', b.key, unpack(unknown))
    for i = 1, n do
      b.known[unknown[i]] = found[i] or ''
    end
  end
  local out = {}
  for level, change in pairs(b.levels) do
    local packed, lots, orders = b.known[level], 0, 0
    if packed ~= '' then
      lots, orders = struct.unpack(LEVEL, packed)
    end
    out[#out + 1] = { level, lots + change[1], orders + change[2] }
  end
  return out
end

-- Writes removals, levels, counters and the next sequence number. Returns the changed levels as
-- { { 'b6200', lots, orders }, ... }. `extra` fields set by the caller are written along.
function book.write(b)
  for side, members in pairs(b.gone) do
    if #members > 0 then
      redis.call('ZREM', b.key .. ':' .. side, unpack(members))
    end
  end
  local changed = totals(b)
  local fields, emptied = { 'q', text(b.sequence), 'liq', text(b.liquidity), unpack(b.extra) }, {}
  local n = #fields
  for i = 1, #changed do
    local level = changed[i]
    if level[3] == 0 then
      emptied[#emptied + 1] = level[1]
    else
      fields[n + 1], fields[n + 2] = level[1], struct.pack(LEVEL, level[2], level[3])
      n = n + 2
    end
  end
  redis.call('HSET', b.key, unpack(fields))
  if #emptied > 0 then
    redis.call('HDEL', b.key, unpack(emptied))
  end
  return changed
end

return book
