#!lua flags=allow-oom
-- join_wallet: stores the time of a wallet's first sign-in, once. If signing in is what grants collateral, the wallet gets its
-- grant, once. While the exchange is HALTED it gets none; its next sign-in tries again.
--
-- KEYS     1 {x}:p:<address>   2 {x}:bal   3 {x}:sum   4 {x}:out   5 {x}:mode
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 grant, micro-units; 0 when the first order grants the collateral
-- Returns  1 at the first sign-in, else 0
-- Emits    BALANCE, with a grant
-- Bound    one wallet

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local shard, address, grant = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now_ms = outbox.now_ms()

if grant > 0 and redis.call('HEXISTS', KEYS[2], address) == 0
  and tonumber(redis.call('GET', KEYS[5]) or '0') ~= book.HALTED then
  local accounts = ledger.read(shard, nil, { address }, 1, grant)
  ledger.move(accounts, 1, 0, 0)
  ledger.write(accounts, shard, nil, 1, now_ms)
end
return redis.call('HSETNX', KEYS[1], 'j', integer.text(now_ms))
