#!lua flags=allow-oom
-- forget_orders: takes orders out of Redis that are over and that the archive has: the record, and its place in the index of its
-- wallet. An order that place_order might book once more leaves a trace in its market (lib/traces). Whatever is not as it was
-- archived is left as it is, so repeating it changes nothing.
--
-- {x}:ar   hash: `n` the number of the latest batch of the archive of which anything was forgotten; `id` of the archive
--          (open_archive); `orders` how many were forgotten; `sweep` 1 while all orders are to be gone over
-- {x}:fo   hash: address (20 bytes) -> how many orders of the wallet were forgotten (lib/walk) and when the first of them was
--          created (ms), I6 each
--
-- KEYS     1 {x}:o   2 {x}:ar   3 {x}:arl   4 {x}:bal   5 {x}:mode   6 {x}:fo; and, by the records found, the markets' hashes and
--          traces {x}:m:<id>:g<n> and the wallets' indexes {x}:u:<address>
-- ARGV     1 shard prefix `{x}:`   2 token of the lease   3 number of the batch   4 milliseconds since its end for which an order is
--          kept   then for each order: its hash, 32 bytes, and the fields that change (lib/order), as they were archived
-- Returns  how many were forgotten; -1 and nothing changed when the lease is another's, when the batch is neither the latest nor the
--          next, or while the exchange is HALTED, because it may be copied then
-- Emits    nothing
-- Bound    ORDERS_MAX orders; for each market SPLITS_MAX splits of a bucket

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local traces = require('lib.traces')

local ORDERS_MAX, SPLITS_MAX, FIRST_AT = 200, 3, 5
-- The clock of a Redis that takes over may be behind by so much: until then an expired order may be one that is not.
local CLOCK_SECONDS = 86400

local shard, batch, kept_ms = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local now_ms = outbox.now_ms()

-- The orders that may go: flat, hash and packed record.
local function over()
  local hashes, tails, found, seen = {}, {}, {}, {}
  for at = FIRST_AT, math.min(#ARGV, FIRST_AT + 2 * ORDERS_MAX - 1), 2 do
    hashes[#hashes + 1], tails[#tails + 1] = ARGV[at], ARGV[at + 1]
  end
  local records = redis.call('HMGET', KEYS[1], unpack(hashes))
  for i = 1, #hashes do
    local packed = records[i]
    local is_final = packed and packed:byte(-1) > order.PARTIALLY_FILLED
    if is_final and packed:sub(-order.CHANGES_BYTES) == tails[i] and not seen[hashes[i]] then
      seen[hashes[i]] = true
      local _, _, _, updated_ms, _, _, fills = order.changes(packed)
      if fills == 0 and updated_ms + kept_ms <= now_ms then
        found[#found + 1], found[#found + 2] = hashes[i], packed
      end
    end
  end
  return found
end

-- Whether place_order will refuse the order in any case: its nonce only rises, its expiration has passed, its market is at an end.
local function is_refused(nonce, expiration, current, status)
  return nonce < current or expiration > 0 and now_ms >= (expiration + CLOCK_SECONDS) * 1000 or status >= book.CLOSED
end

-- Adds a trace to what a market will get. A market `m` has its `key`, its `status`, the `count` of its buckets and the number of
-- traces in them (`total`), and by bucket the arguments of SADD.
local function leave(m, hash)
  local trace = traces.of(hash)
  local place = traces.bucket(trace, m.count)
  local members = m.added[place] or {}
  members[#members + 1], m.added[place], m.total = integer.text(trace), members, m.total + 1
end

local function market_of(known, id)
  if not known[id] then
    local key = shard .. 'm:' .. id
    local found = redis.call('HMGET', key, 's', traces.FIELD)
    local count, total = 1, 0
    if found[2] then
      count, total = struct.unpack(traces.FORMAT, found[2])
    end
    known[id] = { key = key, status = struct.unpack('>B', found[1]), count = count, total = total, added = {} }
  end
  return known[id]
end

-- Splits the bucket whose turn it is: the traces that now belong to the new last bucket move there.
local function split(m)
  local half = 1
  while half * 2 <= m.count do
    half = half * 2
  end
  local from, to = integer.text(m.count - half), integer.text(m.count)
  m.count = m.count + 1
  local members, moving = redis.call('SMEMBERS', m.key .. ':g' .. from), {}
  for i = 1, #members do
    if traces.bucket(tonumber(members[i]), m.count) == to then
      moving[#moving + 1] = members[i]
    end
  end
  if moving[1] then
    redis.call('SADD', m.key .. ':g' .. to, unpack(moving))
    redis.call('SREM', m.key .. ':g' .. from, unpack(moving))
  end
end

local function write_traces(m)
  if not next(m.added) then
    return
  end
  for place, members in pairs(m.added) do
    redis.call('SADD', m.key .. ':g' .. place, unpack(members))
  end
  for _ = 1, SPLITS_MAX do
    if m.total > m.count * traces.PER_BUCKET then
      split(m)
    end
  end
  redis.call('HSET', m.key, traces.FIELD, struct.pack(traces.FORMAT, m.count, m.total))
end

local last = tonumber(redis.call('HGET', KEYS[2], 'n') or '0')
if redis.call('GET', KEYS[3]) ~= ARGV[2] or batch ~= last and batch ~= last + 1
  or tonumber(redis.call('GET', KEYS[5]) or '0') == book.HALTED then
  return -1
end
local found, markets, wallets, gone = over(), {}, {}, {}
for i = 1, #found, 2 do
  local hash, packed = found[i], found[i + 1]
  local created_ms, _, _, _, _, expiration, maker, id = struct.unpack(order.BODY, packed)
  local wallet = wallets[maker]
  if not wallet then
    local account, current, _ = redis.call('HGET', KEYS[4], maker), 0
    if account then
      _, _, current = ledger.open_cash(account)
    end
    wallet = { nonce = current, hashes = {}, first_ms = math.huge }
    wallets[maker] = wallet
  end
  wallet.hashes[#wallet.hashes + 1], gone[#gone + 1] = hash, hash
  wallet.first_ms = math.min(wallet.first_ms, created_ms)
  local m = market_of(markets, id)
  if not is_refused(order.nonce(packed), expiration, wallet.nonce, m.status) then
    leave(m, hash)
  end
end

-- From here on nothing may fail.
redis.call('HSET', KEYS[2], 'n', integer.text(batch))
for _, m in pairs(markets) do
  write_traces(m)
end
for maker, wallet in pairs(wallets) do
  redis.call('ZREM', shard .. 'u:' .. maker, unpack(wallet.hashes))
  local count, first_ms, lines, before = 0, math.huge, 0, redis.call('HGET', KEYS[6], maker)
  if before then
    count, first_ms, lines = struct.unpack(traces.OF_WALLET, before)
  end
  redis.call('HSET', KEYS[6], maker, struct.pack(traces.OF_WALLET, count + #wallet.hashes,
    math.min(first_ms, wallet.first_ms), lines))
end
if gone[1] then
  redis.call('HDEL', KEYS[1], unpack(gone))
  redis.call('HINCRBY', KEYS[2], 'orders', #gone)
end
return #gone
