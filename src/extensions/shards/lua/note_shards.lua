#!lua flags=allow-oom
-- note_shards: notes the number of shards of a new exchange. From then on programs that know only one shard may not read the data.
--
-- {x}:shards  hash: `count` of the shards; absent for one
--
-- KEYS     1 {x}:shards   2 {x}:layout   3 {x}:mk
-- ARGV     1 number of shards, more than one   2 the oldest layout whose programs know several shards
-- Returns  the number of shards of the exchange; 1 for one that has a layout or a market, but no number
-- Emits    nothing
-- Bound    two hashes

local noted = redis.call('HGET', KEYS[1], 'count')
if noted then
  return tonumber(noted)
elseif redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then
  return 1
end
redis.call('HSET', KEYS[1], 'count', ARGV[1])
redis.call('HSET', KEYS[2], 'layout', ARGV[2], 'oldest', ARGV[2])
return tonumber(ARGV[1])
