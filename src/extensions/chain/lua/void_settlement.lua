#!lua flags=allow-oom
-- void_settlement: ends a settlement as FAILED that no live transaction holds: it is not SUBMITTED (lib/intents). Its wallets
-- get back the amounts that it took, and makers that were not at fault their lots. The caller has seen that the chain would refuse it.
--
-- KEYS     1 {x}:st   2 {x}:bal   3 {x}:xp   4 {x}:str   5 {x}:os   6 {x}:out; and the token accounts, matches and orders of the
--          settlement, and the books of orders that are cancelled, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 name (lib/settlements)   3 reason (lib/finality)   4 guilty wallet (20 bytes), empty for none
--          5 number of the block that proves it
-- Returns  { code, nowMs, cancelled, more }: OK, and cancel_unpaid cancels the rest when more is 1; or OVER, UNKNOWN or LIVE when it
--          is SUBMITTED, nothing changed
-- Emits    SETTLE and BALANCE; CANCEL for each market with cancelled orders; ORDER or CANCEL for each order that gets lots back
--          (lib/restoring); MARKET for each that failed
-- Bound    one settlement, CANCEL_MAX orders (lib/unfunded)

local finality = require('lib.finality')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local settlements = require('lib.settlements')
local unfunded = require('lib.unfunded')

local shard, name, reason, wallet = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local now_ms = outbox.now_ms()
local state, record, found = finality.find(shard, name, redis.call('HGET', shard .. 'funds', 'hold'))
if state ~= finality.PENDING then
  return { state == finality.OVER and 'OVER' or 'UNKNOWN', integer.text(now_ms), 0, 0 }
elseif record[settlements.STATUS] == settlements.SUBMITTED then
  return { 'LIVE', integer.text(now_ms), 0, 0 }
end
local left = unfunded.left()
finality.finish(shard, finality.plan(shard, name, record, found, settlements.FAILED, '', tonumber(ARGV[5]), reason, wallet), left,
  now_ms)
return { 'OK', integer.text(now_ms), left.cancelled, left.more and 1 or 0 }
