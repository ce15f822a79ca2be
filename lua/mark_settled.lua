#!lua flags=allow-oom
-- mark_settled: notes up to which match of a market every settlement is final, if that still is what the caller has seen, on
-- the Redis on which it was seen.
--
-- {x}:sw   hash: market -> id of the entry in {x}:m:<id>:t
--
-- KEYS     1 {x}:sw
-- ARGV     1 market id   2 the mark seen, empty for none   3 the mark now   4 the run of Redis it was read from (read_run)
-- Returns  1, or 0 when it is to be read again
-- Emits    nothing
-- Bound    one field

local history = require('lib.history')

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] or history.name() ~= ARGV[4] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
