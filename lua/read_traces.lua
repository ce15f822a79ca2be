#!lua flags=no-writes
-- read_traces: reads traces of a market, the market's field of them, and its latest changes, all of one moment.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:lt; and the buckets of its traces {x}:m:<id>:g<n>
-- ARGV     1 id of the latest change that the caller knows   2 the first bucket   3 how many buckets at most
-- Returns  { field or '', changes, the next bucket, traces }; the changes are entries (traces.note), and the next bucket is -1 when
--          one has too many traces for one call
-- Bound    BUCKETS_MAX buckets, and behind the first one TRACES_MAX traces; the entries of the stream

local traces = require('lib.traces')

-- A bucket has twice PER_BUCKET at most; one that a signer has filled, more.
local BUCKETS_MAX, TRACES_MAX, CROWDED = 20, 2000, 3000

local packed = redis.call('HGET', KEYS[1], traces.FIELD)
if not packed then
  return { '', {}, 0, {} }
end
local changes = redis.call('XRANGE', KEYS[2], '(' .. ARGV[1], '+')
local count, _, _, factor = traces.open(packed)
local place, found = tonumber(ARGV[2]), {}
local behind = math.min(count, place + math.min(tonumber(ARGV[3]), BUCKETS_MAX))
while place < behind and #found < TRACES_MAX do
  local bucket = traces.bucket(KEYS[1], place, factor)
  if redis.call('SCARD', bucket) > CROWDED then
    return { packed, changes, -1, {} }
  end
  local members = redis.call('SMEMBERS', bucket)
  for i = 1, #members do
    found[#found + 1] = members[i]
  end
  place = place + 1
end
return { packed, changes, place, found }
