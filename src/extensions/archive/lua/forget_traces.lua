#!lua flags=allow-oom
-- forget_traces: deletes traces of a market that is at an end: place_order refuses every order for it (lib/traces).
--
-- KEYS     1 {x}:m:<id>; and the buckets of its traces {x}:m:<id>:g<n>
-- ARGV     1 how many buckets at most
-- Returns  1 when there are more, else 0
-- Emits    nothing
-- Bound    BUCKETS_MAX buckets

local book = require('lib.book')
local traces = require('lib.traces')

local BUCKETS_MAX = 200

local found = redis.call('HMGET', KEYS[1], 's', traces.FIELD)
if not found[2] or struct.unpack('>B', found[1]) < book.CLOSED then
  return 0
end
local count, _, factor, expired, total = struct.unpack(traces.FORMAT, found[2])
local left = math.max(0, count - math.min(tonumber(ARGV[1]), BUCKETS_MAX))
for i = left, count - 1 do
  redis.call('UNLINK', traces.key(KEYS[1], i))
end
if left == 0 then
  redis.call('HDEL', KEYS[1], traces.FIELD)
  return 0
end
redis.call('HSET', KEYS[1], traces.FIELD, traces.pack(left, total, expired, factor))
return 1
