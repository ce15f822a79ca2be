#!lua flags=allow-oom
-- take_points: takes points of an allowance that comes back steadily (a token bucket, kept as the time at which it is whole
-- again), whether there are any or not: what they were for has happened. Holds when Redis is full, too.
--
-- KEYS     1 rl:<bucket>:<whose>
-- ARGV     1 points   2 microseconds in which one comes back
-- Returns  microseconds until the allowance is whole again
-- Emits    nothing
-- Bound    one key

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local MICROS_PER_MS = 1000

local now = outbox.now_ms() * MICROS_PER_MS
local whole = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0')) + ARGV[1] * ARGV[2]
if whole > now then
  redis.call('SET', KEYS[1], integer.text(whole), 'PX', integer.text(math.ceil((whole - now) / MICROS_PER_MS)))
end
return integer.text(whole - now)
