#!lua flags=allow-oom
-- take_points: subtracts points from an allowance that refills steadily (a token bucket, stored as the time at which it is full
-- again). It subtracts them even if too few are left, because the request they pay for was already served. It also works when
-- Redis is full.
--
-- KEYS     1 rl:<bucket>:<owner>
-- ARGV     1 points   2 microseconds until one point comes back
-- Returns  microseconds until the allowance is full again
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
