#!lua flags=allow-oom
-- issue_nonce: remembers a sign-in nonce of one address; expired ones go, then the oldest above the bound.
--
-- {n:<address>}  sorted set: nonce, by the microsecond at which it expires
--
-- KEYS     1 {n:<address>}
-- ARGV     1 nonce   2 lifetime in milliseconds   3 how many may be outstanding
-- Returns  how many are outstanding
-- Emits    nothing
-- Bound    the nonces of one address

local integer = require('lib.integer')

local nonces = KEYS[1]
local time = redis.call('TIME')
-- Microseconds, so that the oldest is known even among those of one millisecond; below 2^53 until the year 2255.
local now = time[1] * 1000000 + time[2]

redis.call('ZREMRANGEBYSCORE', nonces, '-inf', integer.text(now))
redis.call('ZADD', nonces, integer.text(now + ARGV[2] * 1000), ARGV[1])
redis.call('ZREMRANGEBYRANK', nonces, 0, -1 - ARGV[3])
redis.call('PEXPIRE', nonces, ARGV[2])
return redis.call('ZCARD', nonces)
