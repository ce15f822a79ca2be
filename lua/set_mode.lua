#!lua flags=allow-oom
-- set_mode: sets the mode of the exchange in every existing market, because the scripts read it there, and for markets created
-- later. It applies from the next command on, from any replica. It also stores the operator's message.
--
-- {x}:notice   string: the code of the mode that the message was given with, then the message; absent without a message. A
--              program that knows no messages leaves it there when it sets another mode; the code then shows that it is old
-- KEYS     1 {x}:mode   2 {x}:mk   3 {x}:notice; and the hash of every market
-- ARGV     1 shard prefix `{x}:`   2 mode code: 0 NORMAL, 1 CANCEL_ONLY, 2 HALTED   3 message; empty for none
-- Returns  the number of markets that changed
-- Emits    nothing: no market's book or document shows the mode
-- Bound    the markets of the shard: one read each, and one write for each that changes

local shard, mode = ARGV[1], tonumber(ARGV[2])

local changed = 0
local markets = redis.call('HKEYS', KEYS[2])
for i = 1, #markets do
  local key = shard .. 'm:' .. markets[i]
  local state = redis.call('HGET', key, 's')
  -- lib/book: the status is the first byte of a packed state, the mode the second.
  if state and state:byte(2) ~= mode then
    redis.call('HSET', key, 's', state:sub(1, 1) .. string.char(mode) .. state:sub(3))
    changed = changed + 1
  end
end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] == '' then
  redis.call('DEL', KEYS[3])
else
  redis.call('SET', KEYS[3], ARGV[2] .. ARGV[3])
end
return changed
