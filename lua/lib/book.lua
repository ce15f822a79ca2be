-- The book of one market while a script works on it: the state, two sorted sets and the totals of the price levels.
--
-- {x}:m:<id>     hash: `s` the packed state (STATE below); the levels `b<pips>` / `a<pips>` -> open lots I7, orders I4;
--                `r` the resolution (lib/resolution); `g` the traces of forgotten orders (lib/traces); `t` a field that makes
--                the hash a table (lib/tables)
-- {x}:m:<id>:b   sorted set of bids, score -pips; member = sequence I6 + order hash: ascending is price, then time
-- {x}:m:<id>:a   sorted set of asks, score pips; the same members
-- All prices are prices of Yes. A script opens a market's book once, changes it in memory and writes it once.

local integer = require('lib.integer')
local order = require('lib.order')

local book = {}

-- The packed state: status, mode, sequence, liquidity (micro-units), time of the last trade (ms), volume and outstanding
-- sets (micro-units), last price (pips, 0 for none). src/store/records/market.ts reads it. The volume is exact up to 2^53.
book.STATE = '>BBI6I7I6I7I7I2'
book.TOTAL = '>I7I4'
-- The position of the order hash in a member of a sorted set.
book.HASH_AT = 7
local ONE_PIPS = 10000
-- The midpoint of a wider spread says nothing about the price.
local SPREAD_MAX_PIPS = 1000

-- src/exchange/market.ts and status.ts hold the names.
book.DRAFT, book.OPEN, book.PAUSED = 0, 1, 2
book.CLOSED, book.RESOLVED, book.VOIDED = 3, 4, 5
book.NORMAL, book.CANCEL_ONLY, book.HALTED = 0, 1, 2

-- An open book is a table with these fields:
-- the state (`status` to `last`, as in STATE) and the market's `key` and `id`;
-- `changes`: a flat list of name, pips, lots added and orders added, for each changed level;
-- `places`: the position of each changed level in `changes`;
-- `totals`: the packed totals read so far, by the level's name;
-- `bids` and `asks`: the members to be removed, in a book that `book.open` returned.
local CHANGE_MEMBERS = 4

-- Returns the open book of the market whose hash is under `key`, from its packed state and the totals read so far.
function book.unpack(packed, key, market, totals)
  local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, packed)
  return { status = status, mode = mode, sequence = sequence, liquidity = liquidity, trade_ms = trade_ms, volume = volume,
    sets = sets, last = last, key = key, id = market, places = {}, changes = {}, totals = totals, bids = {}, asks = {} }
end

-- Opens a market's book and reads the total of `level`, a level that will change. Returns nil when the market does not exist.
function book.open(shard, market, level)
  local key = shard .. 'm:' .. market
  local found = redis.call('HMGET', key, 's', level)
  return found[1] and book.unpack(found[1], key, market, { [level] = found[2] or '' }) or nil
end

-- Ends the script unless the liquidity and the outstanding sets can be stored exactly. Call it before the first write.
function book.check(liquidity, sets)
  if not (integer.kept(liquidity, 0) and integer.kept(sets, 0)) then
    integer.beyond(liquidity, sets)
  end
end

-- Packs the state after the same check. It is one expression, so the bundler writes it into its calls.
function book.pack_state(status, mode, sequence, liquidity, trade_ms, volume, sets, last)
  return integer.kept(liquidity, 0)
    and (integer.kept(sets, 0) and struct.pack(book.STATE, status, mode, sequence, liquidity, trade_ms, volume, sets, last)
      or integer.beyond(sets, 0))
    or integer.beyond(liquidity, 0)
end

-- The volume after a trade. Trading has no limit that keeps the volume below 2^53, so the volume stops at the largest exact
-- number.
function book.volume_with(volume, value)
  return volume + value <= integer.MOST and volume + value or integer.MOST
end

-- The packed state of a new market.
function book.first_state(status, mode)
  return struct.pack(book.STATE, status, mode, 1, 0, 0, 0, 0, 0)
end

function book.yes_price(price, outcome)
  return outcome == 0 and price or ONE_PIPS - price
end

-- A level as one number: the Yes price for bids (BUY Yes, SELL No), minus the Yes price for asks.
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

-- The price of Yes in tenths of a pip as the exchange shows it (`worthOf` of src/wire/prices.ts): the midpoint of a narrow
-- spread, else the last trade, else nil. `b` has changed no order.
function book.worth(b)
  local bid = redis.call('ZRANGE', b.key .. ':b', 0, 0, 'WITHSCORES')[2]
  local ask = redis.call('ZRANGE', b.key .. ':a', 0, 0, 'WITHSCORES')[2]
  -- A bid's score is its price below zero.
  if bid and ask and ask + bid <= SPREAD_MAX_PIPS then
    return (ask - bid) * 5
  end
  return b.last > 0 and b.last * 10 or nil
end

function book.member(sequence, hash)
  return struct.pack('>I6c32', sequence, hash)
end

-- Marks a resting order for removal from the book, with all of its remaining lots.
function book.drop(b, record)
  local level, lots = book.level_of(record.kind, record.price), order.remaining(record)
  local members = level > 0 and b.bids or b.asks
  members[#members + 1] = book.member(record.sequence, record.hash)
  book.change(b, level, -lots, -1)
  b.liquidity = b.liquidity - lots * record.price
end

-- Reads the totals of the changed levels that have not been read yet.
function book.read_totals(b)
  local changes, totals, unread = b.changes, b.totals, nil
  for at = 1, #changes, CHANGE_MEMBERS do
    if not totals[changes[at]] then
      unread = unread or {}
      unread[#unread + 1] = changes[at]
    end
  end
  if unread then
    local found = redis.call('HMGET', b.key, unpack(unread))
    for i = 1, #unread do
      totals[unread[i]] = found[i] or ''
    end
  end
end

-- Returns the book as it will be once `b` has been written. The totals of `b` must be known.
function book.after(b)
  local changes, totals = b.changes, {}
  for at = 1, #changes, CHANGE_MEMBERS do
    local packed, lots, orders = b.totals[changes[at]], changes[at + 2], changes[at + 3]
    if packed ~= '' then
      local lots_before, orders_before = struct.unpack(book.TOTAL, packed)
      lots, orders = lots + lots_before, orders + orders_before
    end
    totals[changes[at]] = orders == 0 and '' or struct.pack(book.TOTAL, lots, orders)
  end
  return { status = b.status, mode = b.mode, sequence = b.sequence, liquidity = b.liquidity, trade_ms = b.trade_ms,
    volume = b.volume, sets = b.sets, last = b.last, key = b.key, id = b.id, places = {}, changes = {}, totals = totals }
end

-- Removes the dropped orders from the sorted sets.
local function remove(b)
  if b.bids[1] then
    redis.call('ZREM', b.key .. ':b', unpack(b.bids))
  end
  if b.asks[1] then
    redis.call('ZREM', b.key .. ':a', unpack(b.asks))
  end
end

-- Writes the levels, whose totals must be known, and the state. Returns the changed levels, packed for the outbox, and
-- their number.
function book.write_levels(b)
  local changes, totals = b.changes, b.totals
  local fields, n, packed_levels, emptied = { 's', book.pack_state(b.status, b.mode, b.sequence, b.liquidity, b.trade_ms,
    b.volume, b.sets, b.last), false, false }, 2, '', nil
  for at = 1, #changes, CHANGE_MEMBERS do
    local name, packed, lots, orders = changes[at], totals[changes[at]], changes[at + 2], changes[at + 3]
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

-- Writes the removals, the levels and the state. Returns the same as `write_levels`.
function book.write(b)
  remove(b)
  book.read_totals(b)
  return book.write_levels(b)
end

return book
