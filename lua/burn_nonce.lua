#!lua flags=allow-oom
-- burn_nonce: takes a sign-in nonce away from one address, once.
--
-- KEYS     1 {n:<address>}
-- ARGV     1 nonce
-- Returns  1 when it was outstanding, else 0 (unknown, used, expired, or another address's)
-- Emits    nothing
-- Bound    one nonce

local expires = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if not expires then
  return 0
end
redis.call('ZREM', KEYS[1], ARGV[1])
local time = redis.call('TIME')
return expires > time[1] * 1000000 + time[2] and 1 or 0
