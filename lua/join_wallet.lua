#!lua flags=allow-oom
-- join_wallet: notes when a wallet first signed in, once.
--
-- KEYS     1 {x}:p:<address>
-- ARGV     none
-- Returns  1 when it had not been noted before, else 0
-- Emits    nothing
-- Bound    one wallet

local integer = require('lib.integer')
local outbox = require('lib.outbox')

return redis.call('HSETNX', KEYS[1], 'j', integer.text(outbox.now_ms()))
