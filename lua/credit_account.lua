#!lua
-- credit_account: pays collateral to a wallet from the faucet, at most once in an interval. A wallet that is new to the
-- exchange gets its first grant as well.
--
-- KEYS     1 {x}:bal   2 {x}:sum   3 {x}:out   4 {x}:mode
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 first grant, micro-units   4 amount, micro-units
--          5 interval in milliseconds
-- Returns  { code, nowMs, detail }: OK with the free collateral, HALTED, or RATE_LIMITED with the milliseconds to wait
-- Emits    BALANCE, and before it one with the grant of a new wallet
-- Bound    one wallet

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local shard, address, grant = ARGV[1], ARGV[2], tonumber(ARGV[3])
local amount, interval_ms = tonumber(ARGV[4]), tonumber(ARGV[5])
local now_ms = outbox.now_ms()

if tonumber(redis.call('GET', KEYS[4]) or '0') == book.HALTED then
  return { 'HALTED', integer.text(now_ms), '' }
end
local accounts = ledger.read(shard, nil, { address }, 1, grant)
local _, _, _, faucet_ms = ledger.cash(accounts, 1)
local wait_ms = faucet_ms + interval_ms - now_ms
if wait_ms > 0 then
  return { 'RATE_LIMITED', integer.text(now_ms), integer.text(wait_ms) }
end
ledger.grant(accounts, 1, amount, now_ms)
ledger.write(accounts, shard, nil, 1, now_ms)
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, address, outbox.move(outbox.FAUCET, amount, 0, 0))
return { 'OK', integer.text(now_ms), integer.text((ledger.cash(accounts, 1))) }
