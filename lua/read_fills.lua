#!lua flags=no-writes
-- read_fills: an order's record and a stretch of its chain of fills, newest match first.
--
-- KEYS     1 {x}:o
-- ARGV     1 shard prefix `{x}:`   2 order hash (32 bytes)   3 milliseconds and 4 sequence of the match to start from, 0 0 for the newest
-- Returns  { record, nextMs, nextSequence, { tradeMs, sequence, fills }... }: an empty record when there is none;
--          next 0 0 when the chain is at its end; fills packed as in lib/trades
-- Bound    STEPS_MAX matches

local order = require('lib.order')
local integer = require('lib.integer')

local STEPS_MAX = 500
local HEAD_BYTES, FILL_BYTES = 36, 67

local shard, hash, ms, sequence = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- Where the chain goes on behind this entry; 0 0 when the order was its taker.
local function before(fills)
  if fills:sub(1, 32) == hash then
    return 0, 0
  end
  local count = struct.unpack('>I2', fills, 35)
  for i = 0, count - 1 do
    local at = HEAD_BYTES + i * FILL_BYTES + 1
    if fills:sub(at, at + 31) == hash then
      return struct.unpack('>I6I6', fills, at + FILL_BYTES - 12)
    end
  end
  return 0, 0
end

local packed = redis.call('HGET', KEYS[1], hash)
if not packed then
  return { '', '0', '0' }
end
local record = order.unpack(packed, hash)
local stream = shard .. 'm:' .. record[order.MARKET] .. ':t'
if ms == 0 then
  ms, sequence = record[order.FILL_MS], record[order.FILL_SEQUENCE]
end
local reply = { packed, '0', '0' }
for _ = 1, STEPS_MAX do
  if ms == 0 then
    break
  end
  local id = integer.text(ms) .. '-' .. integer.text(sequence)
  local entry = redis.call('XRANGE', stream, id, id)[1]
  if not entry then
    ms, sequence = 0, 0
    break
  end
  reply[#reply + 1] = { integer.text(ms), integer.text(sequence), entry[2][2] }
  ms, sequence = before(entry[2][2])
end
reply[2], reply[3] = integer.text(ms), integer.text(sequence)
return reply
