-- One market's book while a script works on it: its state, its two sorted sets, its level totals.
--
-- {x}:m:<id>     hash: `s` the packed state (STATE below), and the levels `b<pips>` / `a<pips>` -> open lots I7, orders I4
-- {x}:m:<id>:b   sorted set of bids, score -pips; member = sequence I6 + order hash: ascending is price, then time
-- {x}:m:<id>:a   sorted set of asks, score pips; the same
-- Prices are in Yes. A book is opened once per market and script, changed in memory and written once.

local order = require('lib.order')

local book = {}

-- status, mode, sequence, liquidity (micro-units), time of the last trade (ms), volume and outstanding sets
-- (micro-units), last price (pips, 0 for none). src/store/documents.ts reads it.
book.STATE = '>BBI6I7I6I7I7I2'
book.TOTAL = '>I7I4'
local ONE_PIPS = 10000

-- src/exchange/market.ts and status.ts hold the names.
book.DRAFT, book.OPEN, book.PAUSED = 0, 1, 2
book.NORMAL, book.CANCEL_ONLY, book.HALTED = 0, 1, 2

-- Places of the members of an open book: the state, then what changes: maps from level to lots and to orders, the
-- totals read so far by level name, and the members to be removed. (An array: every script that opens a book builds it.)
book.STATUS, book.MODE, book.SEQUENCE, book.LIQUIDITY = 1, 2, 3, 4
book.TRADE_MS, book.VOLUME, book.SETS, book.LAST = 5, 6, 7, 8
book.KEY, book.ID, book.LOTS, book.ORDERS, book.KNOWN, book.BIDS, book.ASKS = 9, 10, 11, 12, 13, 14, 15

-- Opens a market's book; `level` is the name of a level that will change, read along. Nil when there is no such market.
function book.open(shard, market, level)
  local key = shard .. 'm:' .. market
  local found = redis.call('HMGET', key, 's', level)
  if not found[1] then
    return nil
  end
  local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, found[1])
  return { status, mode, sequence, liquidity, trade_ms, volume, sets, last, key, market, {}, {},
    { [level] = found[2] or '' }, {}, {} }
end

-- The packed state of a market that begins.
function book.first_state(status, mode)
  return struct.pack(book.STATE, status, mode, 1, 0, 0, 0, 0, 0)
end

function book.yes_price(price, outcome)
  return outcome == 0 and price or ONE_PIPS - price
end

-- A level as one number: the Yes price for bids (BUY Yes, SELL No), less than nothing for asks.
function book.level_of(record)
  local outcome, price = order.outcome(record), record[order.PRICE]
  if outcome == 1 then
    price = ONE_PIPS - price
  end
  return order.side(record) == outcome and price or -price
end

function book.level_name(level)
  return level > 0 and 'b' .. level or 'a' .. -level
end

-- Changes a level's open lots and number of orders.
function book.change(b, level, lots, orders)
  b[book.LOTS][level] = (b[book.LOTS][level] or 0) + lots
  b[book.ORDERS][level] = (b[book.ORDERS][level] or 0) + orders
end

function book.member(sequence, hash)
  return struct.pack('>I6', sequence) .. hash
end

-- Marks a resting order for removal from the book, with all that is left of it.
function book.drop(b, record)
  local level, lots = book.level_of(record), order.remaining(record)
  local gone = level > 0 and b[book.BIDS] or b[book.ASKS]
  gone[#gone + 1] = book.member(record[order.SEQUENCE], record[order.HASH])
  book.change(b, level, -lots, -1)
  b[book.LIQUIDITY] = b[book.LIQUIDITY] - lots * record[order.PRICE]
end

-- Rests an order's remainder.
function book.rest(b, record)
  local level, lots = book.level_of(record), order.remaining(record)
  local key, score = b[book.KEY] .. ':b', '-' .. level
  if level < 0 then
    key, score = b[book.KEY] .. ':a', -level .. ''
  end
  redis.call('ZADD', key, score, book.member(record[order.SEQUENCE], record[order.HASH]))
  book.change(b, level, lots, 1)
  b[book.LIQUIDITY] = b[book.LIQUIDITY] + lots * record[order.PRICE]
end

-- Reads the totals of those changed levels that have not been read yet.
local function learn(b)
  local known, unknown = b[book.KNOWN], nil
  for level in pairs(b[book.LOTS]) do
    local name = book.level_name(level)
    if not known[name] then
      unknown = unknown or {}
      unknown[#unknown + 1] = name
    end
  end
  if unknown then
    local found = redis.call('HMGET', b[book.KEY], unpack(unknown))
    for i = 1, #unknown do
      known[unknown[i]] = found[i] or ''
    end
  end
end

-- Takes what has been dropped out of the sorted sets.
local function remove(b)
  if b[book.BIDS][1] then
    redis.call('ZREM', b[book.KEY] .. ':b', unpack(b[book.BIDS]))
  end
  if b[book.ASKS][1] then
    redis.call('ZREM', b[book.KEY] .. ':a', unpack(b[book.ASKS]))
  end
end

-- Writes removals, levels and state. Returns the changed levels, packed for the outbox, and how many they are.
function book.write(b)
  remove(b)
  learn(b)
  local fields, at, changed, n, emptied = { 's', struct.pack(book.STATE, unpack(b, 1, 8)) }, 2, '', 0, nil
  for level, delta in pairs(b[book.LOTS]) do
    local name = book.level_name(level)
    local packed, lots, orders = b[book.KNOWN][name], 0, 0
    if packed ~= '' then
      lots, orders = struct.unpack(book.TOTAL, packed)
    end
    orders = orders + b[book.ORDERS][level]
    packed = struct.pack(book.TOTAL, lots + delta, orders)
    changed, n = changed .. struct.pack('>c1I2', name, level > 0 and level or -level) .. packed, n + 1
    if orders == 0 then
      emptied = emptied or {}
      emptied[#emptied + 1] = name
    else
      fields[at + 1], fields[at + 2], at = name, packed, at + 2
    end
  end
  redis.call('HSET', b[book.KEY], unpack(fields))
  if emptied then
    redis.call('HDEL', b[book.KEY], unpack(emptied))
  end
  return changed, n
end

return book
