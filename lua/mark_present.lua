#!lua flags=allow-oom
-- mark_present: renews the presence of wallets that want their orders cancelled when they are gone.
--
-- {x}:away   sorted set: wallet (20 bytes) -> ms at which its orders are cancelled unless the presence is renewed before
--
-- KEYS     1 {x}:away
-- ARGV     1 milliseconds from now until a wallet counts as gone   2 addresses, 20 bytes each, back to back
-- Returns  the number of wallets marked
-- Emits    nothing
-- Bound    WALLETS_MAX wallets

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local WALLETS_MAX = 1000
local ADDRESS_BYTES = 20

local deadline = integer.text(outbox.now_ms() + tonumber(ARGV[1]))
local arguments = {}
for at = 1, math.min(#ARGV[2], WALLETS_MAX * ADDRESS_BYTES), ADDRESS_BYTES do
  arguments[#arguments + 1] = deadline
  arguments[#arguments + 1] = ARGV[2]:sub(at, at + ADDRESS_BYTES - 1)
end
if #arguments > 0 then
  redis.call('ZADD', KEYS[1], unpack(arguments))
end
return #arguments / 2
