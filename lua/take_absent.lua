#!lua flags=allow-oom
-- take_absent: lists the wallets whose sockets are gone, for the caller that cancels their orders. It removes no wallet:
-- lua/cancel_absent.lua checks again whether the wallet is gone, and removes it. So nothing is lost if the caller crashes. A
-- moment further ahead than a wallet may be given was written before a clock was set back; such a wallet counts from now.
--
-- KEYS     1 {x}:lease   2 {x}:away
-- ARGV     1 token of the lease   2 the most wallets to return   3 milliseconds from now until a wallet counts as gone
-- Returns  addresses (20 bytes each), longest gone first; none without the lease
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
