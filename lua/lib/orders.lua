-- The stored orders of a shard and the indexes that follow them.
--
-- {x}:o            hash: order hash (32 bytes) -> packed record (lib/order), for ever: a hash seen once never runs again
-- {x}:u:<address>  sorted set of the wallet's order hashes: score `order.rank` while open, minus that once final
-- {x}:exp          sorted set of open orders with an expiration: score its second

local integer = require('lib.integer')
local order = require('lib.order')
local ledger = require('lib.ledger')
local book = require('lib.book')

local orders = {}

-- Records of the given hashes, in their order; false where there is none.
function orders.load(shard, hashes)
  local found = redis.call('HMGET', shard .. 'o', unpack(hashes))
  for i = 1, #found do
    found[i] = found[i] and order.unpack(found[i], hashes[i])
  end
  return found
end

-- Reads the accounts that changes to these records will touch.
function orders.load_accounts(market, records, wallets)
  for i = 1, #records do
    wallets[#wallets + 1] = records[i][order.MAKER]
  end
  ledger.load_cash(wallets)
  ledger.load_tokens(market, wallets)
end

-- Takes resting orders of the open book `b` out of it and gives back what they had reserved.
-- Their accounts must be loaded.
function orders.retire(b, records, status, reason, now_ms)
  for i = 1, #records do
    local record = records[i]
    local lots = order.remaining(record)
    ledger.reserve(b.market, record[order.MAKER], order.side(record), order.outcome(record), -lots, record[order.PRICE])
    book.take(b, record, lots, true)
    book.drop(b, record)
    record[order.STATUS], record[order.REASON], record[order.UPDATED] = status, reason, now_ms
  end
end

-- Writes changed records. Final ones leave the expiry index and move to the final half of their wallet's index.
function orders.save(shard, records)
  local written, expiring, ranks = {}, {}, {}
  for i = 1, #records do
    local record = records[i]
    local hash = record[order.HASH]
    written[2 * i - 1], written[2 * i] = hash, order.pack(record)
    if order.is_final(record) then
      if record[order.EXPIRATION] > 0 then
        expiring[#expiring + 1] = hash
      end
      local maker = record[order.MAKER]
      local rank = ranks[maker]
      if not rank then
        rank = {}
        ranks[maker] = rank
      end
      local n = #rank
      rank[n + 1], rank[n + 2] = integer.text(-order.rank(record)), hash
    end
  end
  if #written > 0 then
    redis.call('HSET', shard .. 'o', unpack(written))
  end
  if #expiring > 0 then
    redis.call('ZREM', shard .. 'exp', unpack(expiring))
  end
  for maker, rank in pairs(ranks) do
    redis.call('ZADD', shard .. 'u:' .. maker, unpack(rank))
  end
end

-- The hashes of records, appended to `into`.
function orders.hashes(records, into)
  for i = 1, #records do
    into[#into + 1] = records[i][order.HASH]
  end
  return into
end

return orders
