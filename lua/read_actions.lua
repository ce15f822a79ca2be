#!lua flags=no-writes
-- read_actions: reads the requests of operators, newest first, as one consistent view.
--
-- KEYS     1 {x}:al   2 {x}:alr
-- ARGV     1 the most actions to return   2 name of the action after which to continue; empty to begin with the newest
-- Returns  { name, milliseconds, JSON }...: empty when the named action is no longer kept
-- Bound    READ_MAX actions

local READ_MAX = 201

local most, from = math.min(tonumber(ARGV[1]), READ_MAX), 0
if ARGV[2] ~= '' then
  local rank = redis.call('ZREVRANK', KEYS[1], ARGV[2])
  if not rank then
    return {}
  end
  from = rank + 1
end
local reply = {}
local found = redis.call('ZREVRANGE', KEYS[1], from, from + most - 1, 'WITHSCORES')
for i = 1, #found, 2 do
  reply[#reply + 1] = { found[i], found[i + 1], redis.call('HGET', KEYS[2], found[i]) or '{}' }
end
return reply
