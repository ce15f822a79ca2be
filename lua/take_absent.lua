#!lua flags=allow-oom
-- take_absent: the wallets whose sockets are gone, for the caller that cancels their orders. It decides nothing:
-- whether one is gone is asked again by lua/cancel_absent.lua, which also takes it off the list, so that nothing is
-- lost with the process that cancels. A moment further ahead than a wallet may be given is of a clock that has been put
-- back since: it counts from now.
--
-- KEYS     1 {x}:lease   2 {x}:away
-- ARGV     1 token of the lease   2 how many at most   3 milliseconds from now until a wallet counts as gone
-- Returns  addresses (20 bytes each), the longest gone first; none without the lease
-- Emits    nothing
-- Bound    WALLETS_MAX wallets

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local WALLETS_MAX = 1000

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return {}
end
local now_ms = outbox.now_ms()
local latest = integer.text(now_ms + tonumber(ARGV[3]))
local ahead = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. latest, '+inf', 'LIMIT', '0', integer.text(WALLETS_MAX))
for i = 1, #ahead do
  redis.call('ZADD', KEYS[2], latest, ahead[i])
end
local most = math.min(tonumber(ARGV[2]), WALLETS_MAX)
return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', integer.text(now_ms), 'LIMIT', '0', integer.text(most))
