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

-- Reads the accounts that changes to these records will touch, besides those of `wallets`.
function orders.load_accounts(market, records, wallets)
  local n = #wallets
  for i = 1, #records do
    wallets[n + i] = records[i][order.MAKER]
  end
  ledger.load_cash(wallets)
  ledger.load_tokens(market, wallets)
end

-- Ends resting orders: takes them out of the open book `b` and gives back what they had reserved.
-- Their accounts must be loaded.
function orders.retire(b, records, status, reason, now_ms)
  for i = 1, #records do
    local record = records[i]
    ledger.reserve(b[book.ID], record[order.MAKER], order.side(record), order.outcome(record), -order.remaining(record),
      record[order.PRICE])
    book.drop(b, record)
    record[order.STATUS], record[order.REASON], record[order.UPDATED] = status, reason, now_ms
  end
end

-- Writes changed records. Final ones leave the expiry index and move to the final half of their wallet's index.
-- Returns their hashes back to back.
function orders.save(shard, records)
  local count = #records
  if count == 0 then
    return ''
  end
  local written, hashes, expiring, ranks = {}, {}, {}, {}
  for i = 1, count do
    local record = records[i]
    local hash = record[order.HASH]
    hashes[i] = hash
    written[2 * i - 1], written[2 * i] = hash, order.pack(record)
    if record[order.STATUS] > order.PARTIALLY_FILLED then
      if record[order.EXPIRATION] > 0 then
        expiring[#expiring + 1] = hash
      end
      local maker = record[order.MAKER]
      local rank = ranks[maker]
      if rank then
        local n = #rank
        rank[n + 1], rank[n + 2] = integer.text(-order.rank(record[order.CREATED], record[order.SEQUENCE])), hash
      else
        ranks[maker] = { integer.text(-order.rank(record[order.CREATED], record[order.SEQUENCE])), hash }
      end
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

return orders
