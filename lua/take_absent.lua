#!lua flags=allow-oom
-- take_absent: the wallets that are gone and whose orders are to be cancelled now. They stay on the list until the holder of
-- the lease names them as done, so that nothing is lost with the process that cancels.
--
-- KEYS     1 {x}:lease   2 {x}:away
-- ARGV     1 token of the lease   2 how many at most   3 addresses that are done, 20 bytes each, back to back
-- Returns  addresses (20 bytes each), the longest gone first; none without the lease
-- Emits    nothing
-- Bound    WALLETS_MAX wallets

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local WALLETS_MAX = 1000
local ADDRESS_BYTES = 20

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return {}
end
local now_ms = outbox.now_ms()
for at = 1, math.min(#ARGV[3], WALLETS_MAX * ADDRESS_BYTES), ADDRESS_BYTES do
  local wallet = ARGV[3]:sub(at, at + ADDRESS_BYTES - 1)
  local deadline = redis.call('ZSCORE', KEYS[2], wallet)
  -- One that came back meanwhile has a new deadline.
  if deadline and tonumber(deadline) <= now_ms then
    redis.call('ZREM', KEYS[2], wallet)
  end
end
local most = math.min(tonumber(ARGV[2]), WALLETS_MAX)
return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', integer.text(now_ms), 'LIMIT', '0', integer.text(most))
