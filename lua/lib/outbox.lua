-- The outbox: one stream entry for each script that changed state, written by that script.
-- Broadcast, settlement and history read it (src/store/outbox.ts decodes it); nothing else tells them.
--
-- entry: field `e` ->
--   kind B, market c8, sequence I6, nowMs I6, tradeMs I6 (0 without a match),
--   levels I2, then for each: side c1, pips I2, open lots I7, orders I4
--   orders I2, then the hash of each order the command touched, the taker first (32 bytes)
--   wallets I2, then each address whose balance changed without an order (20 bytes)

local integer = require('lib.integer')

local outbox = {}

outbox.ORDER, outbox.TRADE, outbox.CANCEL, outbox.EXPIRE, outbox.MARKET, outbox.BALANCE = 1, 2, 3, 4, 5, 6

local pack, concat = struct.pack, table.concat

-- `changed` as book.write returns it; `hashes` and `wallets` raw.
function outbox.write(key, kind, market, sequence, now_ms, trade_ms, changed, hashes, wallets)
  local parts, n = { pack('>Bc8I6I6I6I2', kind, market, sequence, now_ms, trade_ms, #changed) }, 1
  for i = 1, #changed do
    local level = changed[i]
    n = n + 1
    local name = level[1]
    parts[n] = pack('>c1I2I7I4', name:sub(1, 1), tonumber(name:sub(2)), level[2], level[3])
  end
  parts[n + 1] = pack('>I2', #hashes)
  parts[n + 2] = concat(hashes)
  parts[n + 3] = pack('>I2', #wallets)
  parts[n + 4] = concat(wallets)
  redis.call('XADD', key, '*', 'e', concat(parts))
end

-- The clock of the script in milliseconds.
function outbox.now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

outbox.text = integer.text

return outbox
