#!lua flags=allow-oom
-- note_action: stores a request of an operator, and later its result under the same name. It deletes the oldest actions beyond
-- ACTIONS_MAX.
--
-- KEYS     1 {x}:al   2 {x}:alr
-- ARGV     1 name of the action   2 JSON that describes the action
-- Returns  the number of actions kept
-- Emits    nothing
-- Bound    ACTIONS_MAX actions

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local ACTIONS_MAX = 20000

redis.call('ZADD', KEYS[1], 'NX', integer.text(outbox.now_ms()), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
local count = redis.call('ZCARD', KEYS[1])
if count > ACTIONS_MAX then
  local oldest = redis.call('ZPOPMIN', KEYS[1])
  redis.call('HDEL', KEYS[2], oldest[1])
  count = count - 1
end
return count
