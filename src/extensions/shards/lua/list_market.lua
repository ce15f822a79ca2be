#!lua
-- list_market: lists a market that was claimed and that its shard has now.
--
-- {x}:dl   list: the markets of all shards, in the order in which they were listed
--
-- KEYS     1 {x}:mp   2 {x}:dl
-- ARGV     1 market id
-- Returns  1 when it was listed; 0 when it was listed before
-- Emits    nothing
-- Bound    one market

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
