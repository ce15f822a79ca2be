#!lua flags=allow-oom
-- set_mode: sets the mode of the exchange: in every market, whose scripts look nowhere else, and for those that come later. It
-- binds from the next command on, whichever replica sends it. The operator's message is stored with it.
--
-- {x}:notice   string: the code of the mode that the message was given with, then the message; absent without one. Programs that
--              know no messages leave it behind when they set another mode: its code tells
-- KEYS     1 {x}:mode   2 {x}:mk   3 {x}:notice; and the hash of every market
-- ARGV     1 shard prefix `{x}:`   2 mode code: 0 NORMAL, 1 CANCEL_ONLY, 2 HALTED   3 message; empty for none
-- Returns  how many markets changed
-- Emits    nothing: no market's book or body shows the mode
-- Bound    the markets of the shard: one read each, and one write of those that change

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
