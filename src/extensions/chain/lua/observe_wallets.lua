#!lua flags=allow-oom
-- observe_wallets: takes numbers of wallets that were read at a final block, apart from the observer: of wallets that place an
-- order and were not seen lately.
--
-- KEYS     1 {x}:ck   2 {x}:bal   3 {x}:xp   4 {x}:cap; and the token accounts of the wallets named, and the books of orders
--          that are cancelled, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 the block (lib/cursor)   3 readings at that block, packed (lib/readings)
-- Returns  { code, nowMs, cancelled, more }: OK; or MOVED, nothing changed, when the block is newer than the cursor or another of
--          its number
-- Emits    CANCEL for each market with cancelled orders
-- Bound    WEIGHT_MAX readings and markets of readings of src/extensions/chain/store/, CANCEL_MAX orders (lib/unfunded)

local cursor = require('lib.cursor')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local readings = require('lib.readings')
local unfunded = require('lib.unfunded')

local shard, now_ms = ARGV[1], outbox.now_ms()
local number, _, hash = struct.unpack(cursor.BLOCK, ARGV[2])
local at, at_hash = cursor.final(shard)
if number > at or number == at and hash ~= at_hash then
  return { 'MOVED', integer.text(now_ms), 0, 0 }
end
local list = readings.unpack(ARGV[3])
readings.store(shard, list, number)
local left = unfunded.left()
readings.cover(shard, list, at, left, now_ms)
return { 'OK', integer.text(now_ms), left.cancelled, left.more and 1 or 0 }
