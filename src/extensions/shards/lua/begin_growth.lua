#!lua flags=allow-oom
-- begin_growth: notes that the exchange is getting more shards. Until that has ended no process starts, with the old number or the
-- new one, and from now on programs that know only one shard may not read the data.
--
-- {x}:shards  hash: `count` of the shards, absent for one; `grow`, the number that the exchange is getting, until it has it
--
-- KEYS     1 {x}:shards   2 {x}:layout   3 {x}:mode
-- ARGV     1 number that it has   2 number that it gets   3 the oldest layout whose programs know several shards
-- Returns  { code, detail }: OK; COUNT with the number that it has, when that is another; OTHER with the number that it is getting,
--          when that is another; MODE, when the mode is not HALTED: nothing changed
-- Emits    nothing
-- Bound    two hashes

local book = require('lib.book')

local noted = redis.call('HMGET', KEYS[1], 'count', 'grow')
local count, growing = noted[1] or '1', noted[2]
if count ~= ARGV[1] then
  return { 'COUNT', count }
elseif growing and growing ~= ARGV[2] then
  return { 'OTHER', growing }
elseif tonumber(redis.call('GET', KEYS[3]) or '0') ~= book.HALTED then
  return { 'MODE', '' }
end
redis.call('HSET', KEYS[1], 'grow', ARGV[2])
local layouts = redis.call('HMGET', KEYS[2], 'layout', 'oldest')
for i, name in ipairs({ 'layout', 'oldest' }) do
  if tonumber(layouts[i] or '1') < tonumber(ARGV[3]) then
    redis.call('HSET', KEYS[2], name, ARGV[3])
  end
end
return { 'OK', ARGV[2] }
