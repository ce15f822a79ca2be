#!lua flags=allow-oom
-- trim_outbox: deletes the oldest outbox entries that every reader has processed. While a required reader has stored no
-- position, it deletes nothing, because that reader may not have started yet. It waits up to a bound for the archive, and for a
-- reader that it need not have: that of an extension which the caller does not have, and other processes may have or had. Beyond
-- the bound such a reader loses its position, and starts again with a gap (start_reader).
--
-- KEYS     1 {x}:out   2 {x}:readers   3 {x}:sum
-- ARGV     1 milliseconds for which every entry is kept   2 the most entries kept for that reason, or for a reader that is not
--          required: beyond this number, the oldest entries that every reader has processed are deleted, whatever their time
--          3 the most entries to delete   4... the required readers
-- Returns  the number of entries deleted
-- Emits    nothing
-- Bound    ARGV 3

local outbox = require('lib.outbox')

-- The entries that the archive may hold up.
local ARCHIVE_BEHIND_MAX = 1000000

local readers = redis.call('HGETALL', KEYS[2])
local positions = {}
for i = 1, #readers, 2 do
  positions[readers[i]] = readers[i + 1]
end
-- The archive's reader comes again by itself: it goes over all orders when its place is gone.
if positions.archive and redis.call('XLEN', KEYS[1]) > ARCHIVE_BEHIND_MAX then
  positions.archive = nil
  redis.call('HDEL', KEYS[2], 'archive')
end
local needed = { archive = true }
for i = 4, #ARGV do
  needed[ARGV[i]] = true
  if not positions[ARGV[i]] then
    return 0
  end
end
local slowest, oldest_ms, oldest_index = nil, math.huge, 0
for name, position in pairs(positions) do
  local ms, index = position:match('^(%d+)-(%d+)$')
  ms, index = tonumber(ms), tonumber(index)
  local is_same = ms == oldest_ms and index == oldest_index
  if ms < oldest_ms or ms == oldest_ms and index < oldest_index or is_same and needed[name] then
    slowest, oldest_ms, oldest_index = name, ms, index
  end
end
local function drop(ms, index, most)
  return redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%.0f-%.0f', ms, index), 'LIMIT', most)
end

local kept_ms, most = math.max(0, outbox.now_ms() - tonumber(ARGV[1])), tonumber(ARGV[3])
local limit = most
local dropped = oldest_ms < kept_ms and drop(oldest_ms, oldest_index, most) or drop(kept_ms, 0, most)
local surplus = redis.call('XLEN', KEYS[1]) - tonumber(ARGV[2])
if dropped > 0 or surplus <= 0 then
  return dropped
end
if oldest_ms >= kept_ms then
  -- An entry's time is never before the time of the entry before it. So after this clock was ahead once, entries stay young longer.
  limit = math.min(most, surplus)
  dropped = drop(oldest_ms, oldest_index, limit)
end
-- Nothing before its position is left, so all of these entries wait for it. A lower limit says nothing: Redis deletes whole nodes.
if dropped == 0 and limit == most and not needed[slowest] then
  redis.call('HDEL', KEYS[2], slowest)
  redis.call('HSET', KEYS[3], 'gap:' .. slowest, positions[slowest])
end
return dropped
