#!lua flags=allow-oom
-- trim_outbox: drops the oldest entries of the outbox that every reader has finished with. While a reader that must be there
-- has not noted where it is, nothing is dropped: it may not have begun yet.
--
-- KEYS     1 {x}:out   2 {x}:readers
-- ARGV     1 milliseconds for which every entry is kept   2 how many entries are kept for that alone: beyond it the
--          oldest go that every reader has finished with, whenever they are dated
--          3 how many entries to drop at most   4... the readers that must be there
-- Returns  how many entries were dropped
-- Emits    nothing
-- Bound    what ARGV 3 says

local outbox = require('lib.outbox')

local readers = redis.call('HGETALL', KEYS[2])
local positions = {}
for i = 1, #readers, 2 do
  positions[readers[i]] = readers[i + 1]
end
for i = 4, #ARGV do
  if not positions[ARGV[i]] then
    return 0
  end
end
local oldest_ms, oldest_index = math.huge, 0
for _, position in pairs(positions) do
  local ms, index = position:match('^(%d+)-(%d+)$')
  ms, index = tonumber(ms), tonumber(index)
  if ms < oldest_ms or ms == oldest_ms and index < oldest_index then
    oldest_ms, oldest_index = ms, index
  end
end
local function drop(ms, index, most)
  return redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%.0f-%.0f', ms, index), 'LIMIT', most)
end

local kept_ms, most = math.max(0, outbox.now_ms() - tonumber(ARGV[1])), tonumber(ARGV[3])
if oldest_ms < kept_ms then
  return drop(oldest_ms, oldest_index, most)
end
local dropped = drop(kept_ms, 0, most)
local surplus = redis.call('XLEN', KEYS[1]) - tonumber(ARGV[2])
if dropped > 0 or surplus <= 0 then
  return dropped
end
-- No entry is dated before the one that it follows: if this clock was ahead once, none of them grows old for so long.
return drop(oldest_ms, oldest_index, math.min(most, surplus))
