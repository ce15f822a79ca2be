-- The stored orders of a shard and their indexes.
--
-- {x}:o            hash: order hash (32 bytes) -> packed record (lib/order); kept, so that a hash is booked only once, until the order
--                  is in the archive (src/extensions/archive/lua/forget_orders.lua)
-- {x}:u:<address>  sorted set of the wallet's order hashes: score `order.rank` while open, minus that once final
-- {x}:exp          sorted set of open orders with an expiration: score its second

local integer = require('lib.integer')
local order = require('lib.order')
local ledger = require('lib.ledger')
local book = require('lib.book')
local outbox = require('lib.outbox')

local orders = {}

-- Returns the records of the given hashes, in the same order; false for a hash without a record.
function orders.load(shard, hashes)
  local found = redis.call('HMGET', shard .. 'o', unpack(hashes))
  for i = 1, #found do
    found[i] = found[i] and order.unpack(found[i], hashes[i])
  end
  return found
end

-- Ends resting orders as one command of the open book `b`, in memory.
function orders.finish(b, records, status, reason, now_ms)
  b.sequence = b.sequence + 1
  for i = 1, #records do
    local record = records[i]
    book.drop(b, record)
    record.status, record.reason, record.updated = status, reason, now_ms
  end
  book.check(b.liquidity, b.sets)
end

-- Releases the reserves of the orders that end, in memory. Returns the accounts and their number.
local function release(shard, market, records)
  local slots, addresses, count = {}, {}, 0
  for i = 1, #records do
    local maker = records[i].maker
    if not slots[maker] then
      count = count + 1
      slots[maker], addresses[count] = count, maker
    end
  end
  local a = ledger.read(shard, market, addresses, count, 0)
  for i = 1, #records do
    ledger.release(a, slots[records[i].maker], records[i])
  end
  return a, count
end

-- Writes records that have become final: they leave the expiry index and move to the final half of their wallet's index.
-- Returns their hashes, concatenated.
local function save(shard, records)
  local written, hashes, expiring, ranks = {}, {}, {}, {}
  for i = 1, #records do
    local record = records[i]
    local hash, maker = record.hash, record.maker
    hashes[i] = hash
    written[2 * i - 1], written[2 * i] = hash, order.pack(record)
    if record.expiration > 0 then
      expiring[#expiring + 1] = hash
    end
    local rank, text = ranks[maker], integer.text(-order.rank(record.created, record.sequence))
    if rank then
      local n = #rank
      rank[n + 1], rank[n + 2] = text, hash
    else
      ranks[maker] = { text, hash }
    end
  end
  redis.call('HSET', shard .. 'o', unpack(written))
  if expiring[1] then
    redis.call('ZREM', shard .. 'exp', unpack(expiring))
  end
  for maker, rank in pairs(ranks) do
    redis.call('ZADD', shard .. 'u:' .. maker, unpack(rank))
  end
  return table.concat(hashes)
end

-- Writes the changes of `finish` and one entry of the outbox. The caller writes the accounts.
function orders.write(shard, b, records, event, now_ms)
  local levels, count = book.write(b)
  local hashes = save(shard, records)
  outbox.write(shard, event, b.id, b.sequence, now_ms, 0, levels, count, hashes, '')
end

-- Ends resting orders of the market whose book `b` is open, as one command with one number and one entry of the outbox.
function orders.retire(shard, b, records, event, status, reason, now_ms)
  local accounts, wallets = release(shard, b.id, records)
  orders.finish(b, records, status, reason, now_ms)
  orders.write(shard, b, records, event, now_ms)
  ledger.write(accounts, shard, b.id, wallets)
end

-- Ends an order between two steps (lib/booking), which rests nowhere. Returns its record.
function orders.stop(shard, record, reason, now_ms)
  local b, is_full = book.open(shard, record.market, 's'), order.remaining(record) == 0
  b.sequence = b.sequence + 1
  record.status, record.updated = is_full and order.FILLED_STATUS or order.CANCELLED, now_ms
  record.reason = is_full and order.REASON_NONE or reason
  local levels, count = book.write(b)
  redis.call('HSET', shard .. 'o', record.hash, order.pack(record))
  redis.call('ZADD', shard .. 'u:' .. record.maker, integer.text(-order.rank(record.created, record.sequence)), record.hash)
  redis.call('ZREM', shard .. 'exp', record.hash)
  outbox.write(shard, outbox.CANCEL, b.id, b.sequence, now_ms, 0, levels, count, record.hash, '')
  return order.pack(record)
end

-- Ends resting orders of several markets: one command for each market, in the order in which the markets appear. An error in
-- one market does not stop the others; after the last market the script ends with that error.
function orders.retire_all(shard, records, event, status, reason, now_ms)
  local groups, names = {}, {}
  for i = 1, #records do
    local market = records[i].market
    if not groups[market] then
      groups[market] = {}
      names[#names + 1] = market
    end
    local group = groups[market]
    group[#group + 1] = records[i]
  end
  local failure
  for i = 1, #names do
    local done, problem = pcall(function()
      orders.retire(shard, book.open(shard, names[i], 's'), groups[names[i]], event, status, reason, now_ms)
    end)
    failure = not done and problem or failure
  end
  if failure then
    error(failure)
  end
end

-- Ends makers that a submission met after their expiration, and those below the nonce of their wallet. The submitter then runs
-- the submission again. The makers are `hashes` 2 to `count`. Returns the reply of place_order.
function orders.clear(shard, hashes, count, now_ms)
  local stale, void = {}, {}
  local records = orders.load(shard, hashes)
  for i = 2, count do
    local record = records[i]
    if record and order.is_stale(record.expiration, now_ms) then
      stale[#stale + 1] = record
    elseif record and order.nonce(record.body) < tonumber(redis.call('HGET', shard .. 'nn', record.maker) or '0') then
      void[#void + 1] = record
    end
  end
  orders.retire_all(shard, stale, outbox.EXPIRE, order.EXPIRED, order.REASON_EXPIRED, now_ms)
  orders.retire_all(shard, void, outbox.CANCEL, order.INVALIDATED, order.REASON_NONCE, now_ms)
  return { 'AGAIN', integer.text(now_ms) }
end

return orders
