-- The second line of a Redis that is full. At the first, maxmemory, Redis refuses every script that is not flagged allow-oom. A
-- script with that flag that adds something each time, without ending anything, stops at this one.

local memory = {}

-- Percent of maxmemory that the second line is beyond it.
local BEYOND_PERCENT = 10

-- Whether more is used than the second line allows. Buffers that do not count for maxmemory do not count here.
function memory.is_exceeded()
  local info = redis.call('INFO', 'memory')
  local most = tonumber(info:match('\nmaxmemory:(%d+)')) or 0
  local used = tonumber(info:match('\nused_memory:(%d+)')) or 0
  local apart = tonumber(info:match('\nmem_not_counted_for_evict:(%d+)')) or 0
  return most > 0 and (used - apart) * 100 > most * (100 + BEYOND_PERCENT)
end

return memory
