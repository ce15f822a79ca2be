#!lua flags=allow-oom
-- start_reader: returns the position of the reader of an extension, and stores a first one, so that trimming keeps all later
-- entries for it. A reader that starts after entries were deleted, or that lost its position (trim_outbox), begins behind the last
-- entry, and the gap is noted: what it keeps lacks entries until it is rebuilt. Entries before the gap are not read again, because
-- it may have processed them.
--
-- {x}:sum   hash: `gap:<reader>`, the entry behind which the reader started again; absent without a gap
--
-- KEYS     1 {x}:readers   2 {x}:out   3 {x}:sum
-- ARGV     1 name of the reader
-- Returns  the last entry that it has processed; 0-0 for none
-- Emits    nothing
-- Bound    one entry

local position = redis.call('HGET', KEYS[1], ARGV[1])
if position then
  return position
end
local gap, first = 'gap:' .. ARGV[1], '0-0'
if redis.call('EXISTS', KEYS[2]) == 1 then
  local info, stream = redis.call('XINFO', 'STREAM', KEYS[2]), {}
  for i = 1, #info, 2 do
    stream[info[i]] = info[i + 1]
  end
  if stream['entries-added'] > stream['length'] or redis.call('HEXISTS', KEYS[3], gap) == 1 then
    first = stream['last-generated-id']
    redis.call('HSET', KEYS[3], gap, first)
  end
end
redis.call('HSET', KEYS[1], ARGV[1], first)
return first
