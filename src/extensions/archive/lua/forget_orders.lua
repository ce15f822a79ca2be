#!lua flags=allow-oom
-- forget_orders: takes orders out of Redis that are over and that the archive has: the record, and its place in the index of its
-- wallet. An order that place_order might book once more leaves a trace in its market (lib/traces). Whatever is not as it was
-- archived is left as it is, so repeating it changes nothing. An order with fills leaves only after its matches (lib/archived_matches).
--
-- {x}:ar and {x}:fo   lib/archive
--
-- KEYS     1 {x}:o   2 {x}:ar   3 {x}:arl   4 {x}:bal   5 {x}:mode   6 {x}:fo; and, by the records found, the markets' hashes and
--          traces {x}:m:<id>:g<n> and the wallets' indexes {x}:u:<address>
-- ARGV     1 shard prefix `{x}:`   2 token of the lease   3 number of the batch   4 milliseconds since its end for which an order is
--          kept   5 the factor (lib/traces) of a market that has no traces yet
--          then for each order: its hash, 32 bytes, and the fields that change (lib/order), as they were archived
-- Returns  how many were forgotten; -1 and nothing changed when nothing of this batch may leave now (archive.admits)
-- Emits    nothing
-- Bound    ORDERS_MAX orders; splits of buckets that have SPLIT_MAX traces together

local archive = require('lib.archive')
local book = require('lib.book')
local ledger = require('lib.ledger')
local archived_matches = require('lib.archived_matches')
local order = require('lib.order')
local outbox = require('lib.outbox')
local traces = require('lib.traces')

local ORDERS_MAX, FIRST_AT = 200, 6
-- The traces that are looked at to split buckets, of all markets together; a split counts for some more. Orders bring a split for each
-- PER_BUCKET of them, so what waits comes with the next orders. Chance gives no bucket so many traces, but a signer can try salts until
-- the hashes of many orders share one. It is not split, which would take long: then no other bucket of the market is split either,
-- and they take more memory.
local SPLIT_MAX, EACH_SPLIT = 2400, 50

local shard, batch, kept_ms = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local now_ms = outbox.now_ms()

-- A market `m` has its `key`, its `status`, the place of its last match that left (`ms`, `sequence`), the `count` of its buckets and
-- their `span` and `factor` (lib/traces), the number of traces in them (`total`), the latest expiration without a trace
-- (`expired`), and by bucket the arguments of SADD.
local markets = {}
local function market_of(packed)
  local id = packed:sub(order.MARKET_FROM, order.MARKET_TO)
  if not markets[id] then
    local key = shard .. 'm:' .. id
    local found = redis.call('HMGET', key, 's', traces.FIELD, archived_matches.FIELD)
    local count, span, factor, expired, total, ms, sequence = 1, traces.span(1), tonumber(ARGV[5]), 0, 0, 0, 0
    if found[2] then
      count, span, factor, expired, total = struct.unpack(traces.FORMAT, found[2])
    end
    if found[3] then
      ms, sequence = struct.unpack(archived_matches.FORMAT, found[3])
    end
    markets[id] = { key = key, status = struct.unpack('>B', found[1]), ms = ms, sequence = sequence, count = count,
      span = span, factor = factor, total = total, expired = expired, added = {}, is_changed = false }
  end
  return markets[id]
end

-- Whether an order is final, for long enough, and none of its matches is in Redis.
local function is_over(packed)
  if packed:byte(-1) <= order.PARTIALLY_FILLED then
    return false
  end
  local _, _, _, updated_ms, fill_ms, fill_sequence, fills = order.changes(packed)
  if updated_ms + kept_ms > now_ms then
    return false
  end
  local m = fills > 0 and market_of(packed)
  return not m or not archived_matches.is_before(m.ms, m.sequence, fill_ms, fill_sequence)
end

-- The orders that may go: flat, hash and packed record. And their makers, each once.
local function over()
  local hashes, tails, found, makers, seen = {}, {}, {}, {}, {}
  for at = FIRST_AT, math.min(#ARGV, FIRST_AT + 2 * ORDERS_MAX - 1), 2 do
    hashes[#hashes + 1], tails[#tails + 1] = ARGV[at], ARGV[at + 1]
  end
  local records = redis.call('HMGET', KEYS[1], unpack(hashes))
  for i = 1, #hashes do
    local packed = records[i]
    if packed and packed:sub(-order.CHANGES_BYTES) == tails[i] and not seen[hashes[i]] and is_over(packed) then
      local maker = packed:sub(order.MAKER_FROM, order.MAKER_TO)
      if not seen[maker] then
        makers[#makers + 1] = maker
      end
      seen[hashes[i]], seen[maker] = true, true
      found[#found + 1], found[#found + 2] = hashes[i], packed
    end
  end
  return found, makers
end

-- Wallets by address. A wallet has its `nonce`, the `hashes` of its orders that leave, how many left before and leave now
-- (`count`), when the first of all these was created (`first_ms`), and how many lines of its journal have left (`lines`).
local function wallets_of(makers)
  local accounts, before = redis.call('HMGET', KEYS[4], unpack(makers)), redis.call('HMGET', KEYS[6], unpack(makers))
  local wallets = {}
  for i = 1, #makers do
    local nonce, _ = 0, nil
    if accounts[i] then
      _, _, nonce = ledger.open_cash(accounts[i])
    end
    local count, first_ms, lines = archive.open_wallet(before[i])
    wallets[makers[i]] = { nonce = nonce, hashes = {}, count = count, first_ms = count > 0 and first_ms or math.huge,
      lines = lines }
  end
  return wallets
end

-- Leaves what keeps place_order from booking an order again: nothing, when its nonce is below the wallet's, which only rises, or its
-- market is at an end; the expiration, when that has passed (one for all orders of the market, because the clock of a Redis that
-- takes over may be behind); else a trace.
local function leave(m, hash, expiration, is_below_nonce)
  if is_below_nonce or m.status >= book.CLOSED then
    return
  end
  m.is_changed = true
  if expiration > 0 and now_ms >= expiration * 1000 then
    m.expired = math.max(m.expired, expiration)
    return
  end
  local trace, last = traces.of(hash)
  local place = traces.place(traces.number(last, m.factor), m.count, m.span)
  local members = m.added[place] or {}
  members[#members + 1], m.added[place], m.total = trace, members, m.total + 1
end

local effort_left = SPLIT_MAX

-- Splits the bucket whose turn it is: the traces that now belong to the new last bucket move there. Returns false for one that is
-- not split.
local function split(m)
  local added = m.count
  local from, to = traces.key(m.key, added - m.span / 2), traces.key(m.key, added)
  local effort = redis.call('SCARD', from) + EACH_SPLIT
  if effort > effort_left then
    return false
  end
  effort_left = effort_left - effort
  m.count, m.span = added + 1, traces.span(added + 1)
  local members, moving = redis.call('SMEMBERS', from), {}
  for i = 1, #members do
    local number = traces.number(traces.last(members[i]), m.factor)
    if traces.place(number, m.count, m.span) == added then
      moving[#moving + 1] = members[i]
    end
  end
  if moving[1] then
    redis.call('SADD', to, unpack(moving))
    redis.call('SREM', from, unpack(moving))
  end
  return true
end

local function write_traces(m)
  if not m.is_changed then
    return
  end
  for place, members in pairs(m.added) do
    redis.call('SADD', traces.key(m.key, place), unpack(members))
  end
  local is_split = true
  while is_split and m.total > m.count * traces.PER_BUCKET do
    is_split = split(m)
  end
  redis.call('HSET', m.key, traces.FIELD, traces.pack(m.count, m.total, m.expired, m.factor))
end

if not archive.admits(KEYS[2], KEYS[3], KEYS[5], ARGV[2], batch) then
  return -1
end
local found, makers = over()
local wallets, gone = makers[1] and wallets_of(makers), {}
for i = 1, #found, 2 do
  local hash, packed = found[i], found[i + 1]
  local created_ms, _, _, _, _, expiration, maker = struct.unpack(order.BODY_IN_MARKET, packed)
  local wallet = wallets[maker]
  wallet.hashes[#wallet.hashes + 1], gone[#gone + 1] = hash, hash
  wallet.count, wallet.first_ms = wallet.count + 1, math.min(wallet.first_ms, created_ms)
  leave(market_of(packed), hash, expiration, wallet.nonce > 0 and order.nonce(packed) < wallet.nonce)
end

-- From here on nothing may fail.
archive.note(KEYS[2], batch, 'orders', #gone)
if not gone[1] then
  return 0
end
for _, m in pairs(markets) do
  write_traces(m)
end
local fields = {}
for maker, wallet in pairs(wallets) do
  redis.call('ZREM', shard .. 'u:' .. maker, unpack(wallet.hashes))
  fields[#fields + 1], fields[#fields + 2] = maker, struct.pack(archive.OF_WALLET, wallet.count, wallet.first_ms, wallet.lines)
end
redis.call('HSET', KEYS[6], unpack(fields))
redis.call('HDEL', KEYS[1], unpack(gone))
return #gone
