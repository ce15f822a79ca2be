#!lua flags=allow-oom
-- trim_outbox: drops the oldest entries of the outbox that every reader has finished with. While a reader that must be there
-- has not noted where it is, nothing is dropped: it may not have begun yet.
--
-- KEYS     1 {x}:out   2 {x}:readers
-- ARGV     1 milliseconds for which every entry is kept   2 how many entries to drop at most   3... the readers that must be
--          there
-- Returns  how many entries were dropped
-- Emits    nothing
-- Bound    what ARGV 2 says

local outbox = require('lib.outbox')

local readers = redis.call('HGETALL', KEYS[2])
local positions = {}
for i = 1, #readers, 2 do
  positions[readers[i]] = readers[i + 1]
end
for i = 3, #ARGV do
  if not positions[ARGV[i]] then
    return 0
  end
end
local oldest_ms, oldest_index = math.max(0, outbox.now_ms() - tonumber(ARGV[1])), 0
for _, position in pairs(positions) do
  local ms, index = position:match('^(%d+)-(%d+)$')
  ms, index = tonumber(ms), tonumber(index)
  if ms < oldest_ms or ms == oldest_ms and index < oldest_index then
    oldest_ms, oldest_index = ms, index
  end
end
return redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%.0f-%.0f', oldest_ms, oldest_index), 'LIMIT', ARGV[2])
