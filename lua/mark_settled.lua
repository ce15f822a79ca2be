#!lua flags=allow-oom
-- mark_settled: stores the last match of a market up to which every settlement is final. It writes only if the mark is the one
-- that the caller read, and on the run of Redis from which the caller read it.
--
-- {x}:sw   hash: market -> id of the entry in {x}:m:<id>:t
--
-- KEYS     1 {x}:sw
-- ARGV     1 market id   2 the mark read, empty for none   3 the new mark   4 the run of Redis it was read from (read_run)
-- Returns  1, or 0 when the caller must read again
-- Emits    nothing
-- Bound    one field

local history = require('lib.history')

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] or history.name() ~= ARGV[4] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
