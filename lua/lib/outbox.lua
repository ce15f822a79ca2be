-- The outbox: one stream entry for each script that changed state, written by that script.
-- Broadcast, settlement and history read it (src/store/outbox.ts decodes it); nothing else tells them.
--
-- {x}:out   entry: field `e` ->
--   kind B, market c8, sequence I6, nowMs I6, tradeMs I6 (0 without a match),
--   levels I2, then for each: side c1, pips I2, open lots I7, orders I4
--   orders I2, then the hash of each order the command touched, the taker first (32 bytes)
--   wallets I2, then each address whose balance changed without an order (20 bytes)

local outbox = {}

outbox.ORDER, outbox.TRADE, outbox.CANCEL, outbox.EXPIRE, outbox.MARKET, outbox.BALANCE = 1, 2, 3, 4, 5, 6
-- What became of a match: its sequence and time, which it does not count on. No level changes.
outbox.SETTLE = 7
-- Stands where an entry belongs to no market.
outbox.NO_MARKET = '--------'

local HASH_BYTES, ADDRESS_BYTES = 32, 20

-- `levels` and their number as book.write returns them; `hashes` and `wallets` raw, back to back.
function outbox.entry(kind, market, sequence, now_ms, trade_ms, levels, level_count, hashes, wallets)
  return struct.pack('>Bc8I6I6I6I2', kind, market, sequence, now_ms, trade_ms, level_count) .. levels
    .. struct.pack('>I2', #hashes / HASH_BYTES) .. hashes .. struct.pack('>I2', #wallets / ADDRESS_BYTES) .. wallets
end

function outbox.write(shard, kind, market, sequence, now_ms, trade_ms, levels, level_count, hashes, wallets)
  redis.call('XADD', shard .. 'out', '*', 'e',
    outbox.entry(kind, market, sequence, now_ms, trade_ms, levels, level_count, hashes, wallets))
end

-- The entry of a command that changed one order and one level; `level` is the level's name.
function outbox.one_order(kind, market, sequence, now_ms, level, price, lots, orders, hash)
  return struct.pack('>Bc8I6I6I6I2c1I2I7I4I2c32I2', kind, market, sequence, now_ms, 0, 1, level, price, lots, orders, 1,
    hash, 0)
end

-- The clock of the script in milliseconds.
function outbox.now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

return outbox
