-- One market's book while a script works on it: its state, its two sorted sets, its level totals.
--
-- {x}:m:<id>     hash: `s` the packed state (STATE below), and the levels `b<pips>` / `a<pips>` -> open lots I7, orders I4;
--                `r` how it ended (lib/resolution), `t` what makes it a table (lib/tables)
-- {x}:m:<id>:b   sorted set of bids, score -pips; member = sequence I6 + order hash: ascending is price, then time
-- {x}:m:<id>:a   sorted set of asks, score pips; the same
-- Prices are in Yes. A book is opened once per market and script, changed in memory and written once.

local integer = require('lib.integer')
local order = require('lib.order')

local book = {}

-- status, mode, sequence, liquidity (micro-units), time of the last trade (ms), volume and outstanding sets
-- (micro-units), last price (pips, 0 for none). src/store/records/market.ts reads it. The volume is exact up to 2^53.
book.STATE = '>BBI6I7I6I7I7I2'
book.TOTAL = '>I7I4'
-- Where the hash begins in a member of a side.
book.HASH_AT = 7
local ONE_PIPS = 10000

-- src/exchange/market.ts and status.ts hold the names.
book.DRAFT, book.OPEN, book.PAUSED = 0, 1, 2
book.RESOLVED, book.VOIDED = 4, 5
book.NORMAL, book.CANCEL_ONLY, book.HALTED = 0, 1, 2

-- An open book is a table: the state (`status` to `last`, as STATE has them), the market's `key` and `id`, then what changes:
-- `changes`, a flat list of name, pips, lots and orders added for each changed level; `places`, where in it a level stands;
-- `known`, the totals read so far by a level's name; `bids` and `asks`, the members to be removed.
local CHANGE_MEMBERS = 4

-- The open book of a market, whose hash is under `key`, by its packed state and the totals known so far.
function book.of(packed, key, market, known)
  local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, packed)
  return { status = status, mode = mode, sequence = sequence, liquidity = liquidity, trade_ms = trade_ms, volume = volume,
    sets = sets, last = last, key = key, id = market, places = {}, changes = {}, known = known, bids = {}, asks = {} }
end

-- Opens a market's book; `level` is the name of a level that will change, read along. Nil when there is no such market.
function book.open(shard, market, level)
  local key = shard .. 'm:' .. market
  local found = redis.call('HMGET', key, 's', level)
  if not found[1] then
    return nil
  end
  return book.of(found[1], key, market, { [level] = found[2] or '' })
end

-- Ends the script unless the value of what rests and the sets outstanding can be kept. Call it before the first write.
function book.check(liquidity, sets)
  integer.check(liquidity, 0)
  integer.check(sets, 0)
end

-- The state as it is stored, checked likewise. (One expression, written into its calls.)
function book.pack_state(status, mode, sequence, liquidity, trade_ms, volume, sets, last)
  return integer.kept(liquidity, 0)
    and (integer.kept(sets, 0) and struct.pack(book.STATE, status, mode, sequence, liquidity, trade_ms, volume, sets, last)
      or integer.beyond(sets, 0))
    or integer.beyond(liquidity, 0)
end

-- The volume after a trade. What people do together may add up to anything: it stands still at the last number there is.
function book.volume_with(volume, value)
  return math.min(volume + value, integer.MOST)
end

-- The packed state of a market that begins.
function book.first_state(status, mode)
  return struct.pack(book.STATE, status, mode, 1, 0, 0, 0, 0, 0)
end

function book.yes_price(price, outcome)
  return outcome == 0 and price or ONE_PIPS - price
end

-- A level as one number: the Yes price for bids (BUY Yes, SELL No), less than nothing for asks.
function book.level_of(kind, price)
  return order.side(kind) == order.outcome(kind) and book.yes_price(price, order.outcome(kind))
    or -book.yes_price(price, order.outcome(kind))
end

-- Changes a level's open lots and number of orders.
function book.change(b, level, lots, orders)
  local changes, at = b.changes, b.places[level]
  if at then
    changes[at + 2], changes[at + 3] = changes[at + 2] + lots, changes[at + 3] + orders
    return
  end
  at = #changes + 1
  b.places[level] = at
  local pips = level > 0 and level or -level
  changes[at], changes[at + 1] = (level > 0 and 'b' or 'a') .. pips, pips
  changes[at + 2], changes[at + 3] = lots, orders
end

function book.member(sequence, hash)
  return struct.pack('>I6c32', sequence, hash)
end

-- Marks a resting order for removal from the book, with all that is left of it.
function book.drop(b, record)
  local level, lots = book.level_of(record.kind, record.price), order.remaining(record)
  local gone = level > 0 and b.bids or b.asks
  gone[#gone + 1] = book.member(record.sequence, record.hash)
  book.change(b, level, -lots, -1)
  b.liquidity = b.liquidity - lots * record.price
end

-- Reads the totals of those changed levels that have not been read yet.
function book.learn(b)
  local changes, known, unknown = b.changes, b.known, nil
  for at = 1, #changes, CHANGE_MEMBERS do
    if not known[changes[at]] then
      unknown = unknown or {}
      unknown[#unknown + 1] = changes[at]
    end
  end
  if unknown then
    local found = redis.call('HMGET', b.key, unpack(unknown))
    for i = 1, #unknown do
      known[unknown[i]] = found[i] or ''
    end
  end
end

-- The book as it will stand when `b`, whose totals are known, has been written.
function book.behind(b)
  local changes, known = b.changes, {}
  for at = 1, #changes, CHANGE_MEMBERS do
    local packed, lots, orders = b.known[changes[at]], changes[at + 2], changes[at + 3]
    if packed ~= '' then
      local lots_before, orders_before = struct.unpack(book.TOTAL, packed)
      lots, orders = lots + lots_before, orders + orders_before
    end
    known[changes[at]] = orders == 0 and '' or struct.pack(book.TOTAL, lots, orders)
  end
  return { status = b.status, mode = b.mode, sequence = b.sequence, liquidity = b.liquidity, trade_ms = b.trade_ms,
    volume = b.volume, sets = b.sets, last = b.last, key = b.key, id = b.id, places = {}, changes = {}, known = known,
    bids = {}, asks = {} }
end

-- Takes what has been dropped out of the sorted sets.
local function remove(b)
  if b.bids[1] then
    redis.call('ZREM', b.key .. ':b', unpack(b.bids))
  end
  if b.asks[1] then
    redis.call('ZREM', b.key .. ':a', unpack(b.asks))
  end
end

-- Writes levels, whose totals must be known, and state. Returns the changed levels, packed for the outbox, and how
-- many they are.
function book.write_levels(b)
  local changes, known = b.changes, b.known
  local fields, n, packed_levels, emptied = { 's', book.pack_state(b.status, b.mode, b.sequence, b.liquidity, b.trade_ms,
    b.volume, b.sets, b.last), false, false }, 2, '', nil
  for at = 1, #changes, CHANGE_MEMBERS do
    local name, packed, lots, orders = changes[at], known[changes[at]], changes[at + 2], changes[at + 3]
    if packed ~= '' then
      local lots_before, orders_before = struct.unpack(book.TOTAL, packed)
      lots, orders = lots + lots_before, orders + orders_before
    end
    packed = struct.pack(book.TOTAL, lots, orders)
    packed_levels = packed_levels .. struct.pack('>c1I2', name, changes[at + 1]) .. packed
    if orders == 0 then
      emptied = emptied or {}
      emptied[#emptied + 1] = name
    else
      fields[n + 1], fields[n + 2], n = name, packed, n + 2
    end
  end
  redis.call('HSET', b.key, unpack(fields, 1, n))
  if emptied then
    redis.call('HDEL', b.key, unpack(emptied))
  end
  return packed_levels, #changes / CHANGE_MEMBERS
end

-- Writes removals, levels and state; returns what `write_levels` does.
function book.write(b)
  remove(b)
  book.learn(b)
  return book.write_levels(b)
end

return book
