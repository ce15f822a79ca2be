-- How far this exchange has followed the chain.
--
-- {x}:ck   hash: `final` the number of the latest final block whose state the accounts have, with `finalHash`, `finalMs` its own time
--          and `finalNotedMs` the time by Redis' clock at which it was noted; the same of `head`, the latest block seen

local integer = require('lib.integer')

local cursor = {}

-- A block as callers pass it.
cursor.BLOCK = '>I6I6c32'
cursor.FINAL, cursor.HEAD = 'final', 'head'
-- A chain that has had no new final block for so long is followed no longer: nothing new is promised.
local LATE_MS = 30000

-- Returns the number, the hash and the time of note of the final block; 0, '' and 0 before the first.
function cursor.final(shard)
  local found = redis.call('HMGET', shard .. 'ck', cursor.FINAL, 'finalHash', 'finalNotedMs')
  if not found[1] then
    return 0, '', 0
  end
  return tonumber(found[1]), found[2], tonumber(found[3])
end

function cursor.is_late(noted_ms, now_ms)
  return now_ms - noted_ms > LATE_MS
end

function cursor.note(shard, name, number, time_ms, hash, now_ms)
  redis.call('HSET', shard .. 'ck', name, integer.text(number), name .. 'Hash', hash, name .. 'Ms', integer.text(time_ms),
    name .. 'NotedMs', integer.text(now_ms))
end

return cursor
