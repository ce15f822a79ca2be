#!lua
-- fill_directory: makes the directory of an exchange that gets its second shard from the names and lists of its only one, which has
-- every market.
--
-- KEYS     1 {x}:shards   2 {x}:mn   3 {x}:ev   4 {x}:ml   5 {x}:dn   6 {x}:de   7 {x}:dl   8 {x}:ms
-- ARGV     1 number of shards that the exchange is getting
-- Returns  the number of markets; -1 when the exchange is not getting this number of shards, or had several before: nothing changed
-- Emits    nothing
-- Bound    the markets of the exchange: one write each, and a copy of their names

local noted = redis.call('HMGET', KEYS[1], 'count', 'grow')
if noted[2] ~= ARGV[1] or tonumber(noted[1] or '1') > 1 then
  return -1
end
redis.call('COPY', KEYS[2], KEYS[5], 'REPLACE')
redis.call('COPY', KEYS[3], KEYS[6], 'REPLACE')
redis.call('COPY', KEYS[4], KEYS[7], 'REPLACE')
local markets = redis.call('LRANGE', KEYS[4], 0, -1)
for i = 1, #markets do
  redis.call('HSET', KEYS[8], markets[i], '0')
end
return #markets
