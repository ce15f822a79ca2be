-- How far this exchange has followed the chain.
--
-- {x}:ck   hash: `final` the number of the latest final block whose state the accounts have, with `finalHash`, `finalMs` its own time
--          and `finalNotedMs` the time by Redis' clock at which it was noted; the same of `head`, the latest block seen
-- {x}:fb   list: the final blocks that the accounts had lately, as BLOCK, newest first

local integer = require('lib.integer')

local cursor = {}

-- A block as callers pass it.
cursor.BLOCK = '>I6I6c32'
cursor.FINAL, cursor.HEAD = 'final', 'head'
-- A chain that has had no new final block for so long is followed no longer: nothing new is promised.
local LATE_MS = 30000
-- The final blocks that are remembered: a quarter of an hour of BSC.
local KEPT_MAX = 2000

-- Returns the number and the hash of the final block; 0 and '' before the first.
function cursor.final(shard)
  local found = redis.call('HMGET', shard .. 'ck', cursor.FINAL, 'finalHash')
  return tonumber(found[1] or '0'), found[2] or ''
end

-- Whether the cursor is at a block, given as number I6 and hash c32, empty for none.
function cursor.is_at(shard, packed)
  local number, hash = cursor.final(shard)
  return packed == (hash == '' and '' or struct.pack('>I6c32', number, hash))
end

-- Whether the chain is followed no longer: no final block was noted for so long, or the newest block is so old by its own time. A
-- node that lags behind shows old blocks one after the other. The final block itself may be as old as finality takes.
function cursor.is_late(shard, now_ms)
  local found = redis.call('HMGET', shard .. 'ck', 'finalNotedMs', 'finalMs', 'headMs')
  local newest_ms = math.max(tonumber(found[2] or '0'), tonumber(found[3] or '0'))
  return now_ms - math.min(tonumber(found[1] or '0'), newest_ms) > LATE_MS
end

function cursor.note(shard, name, number, time_ms, hash, now_ms)
  redis.call('HSET', shard .. 'ck', name, integer.text(number), name .. 'Hash', hash, name .. 'Ms', integer.text(time_ms),
    name .. 'NotedMs', integer.text(now_ms))
end

-- Moves the cursor to a later final block.
function cursor.follow(shard, packed, now_ms)
  local number, time_ms, hash = struct.unpack(cursor.BLOCK, packed)
  cursor.note(shard, cursor.FINAL, number, time_ms, hash, now_ms)
  redis.call('LPUSH', shard .. 'fb', packed)
  redis.call('LTRIM', shard .. 'fb', '0', integer.text(KEPT_MAX - 1))
end

-- Moves the cursor back to a final block that the accounts had, because those after it were replaced. Until another one follows,
-- the chain counts as late.
function cursor.go_back(shard, packed)
  local number, time_ms, hash = struct.unpack(cursor.BLOCK, packed)
  for _ = 1, KEPT_MAX do
    local newest = redis.call('LINDEX', shard .. 'fb', '0')
    if not newest or struct.unpack(cursor.BLOCK, newest) <= number then
      break
    end
    redis.call('LPOP', shard .. 'fb')
  end
  cursor.note(shard, cursor.FINAL, number, time_ms, hash, 0)
  redis.call('HDEL', shard .. 'ck', cursor.HEAD, 'headHash', 'headMs', 'headNotedMs')
end

return cursor
