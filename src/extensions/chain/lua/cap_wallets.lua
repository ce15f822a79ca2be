#!lua flags=allow-oom
-- cap_wallets: takes numbers of wallets at the head, a block that is not final. A lower number limits the wallet at once and
-- cancels the orders that it can no longer pay; a higher one waits until it is final. It
-- also removes some old limits of wallets that are read no more.
--
-- KEYS     1 {x}:ck   2 {x}:bal   3 {x}:cap; and the token accounts of the wallets, and the books of orders that are cancelled, all
--          in this slot
-- ARGV     1 shard prefix `{x}:`   2 the head (lib/cursor)   3 readings at the head, packed (lib/readings), without the moves of
--          the exchange's own contract after the cursor: the accounts have their amounts as out and pending
--          4 number I6 and hash c32 of the block that the cursor is at, which these are the moves after
-- Returns  { code, nowMs, cancelled, more }: OK; or MOVED, nothing changed, when the cursor is elsewhere or not before the head
-- Emits    CANCEL for each market with cancelled orders
-- Bound    WEIGHT_MAX readings and markets of readings of src/extensions/chain/store/, CANCEL_MAX orders (lib/unfunded)

local caps = require('lib.caps')
local cursor = require('lib.cursor')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local readings = require('lib.readings')
local unfunded = require('lib.unfunded')

local shard, now_ms = ARGV[1], outbox.now_ms()
local number, time_ms, hash = struct.unpack(cursor.BLOCK, ARGV[2])
local final = cursor.final(shard)
if not cursor.is_at(shard, ARGV[4]) or number <= final then
  return { 'MOVED', integer.text(now_ms), 0, 0 }
end
local list = readings.unpack(ARGV[3])
readings.limit(shard, list, number)
caps.forget(shard, final)
cursor.note(shard, cursor.HEAD, number, time_ms, hash, now_ms)
local left = unfunded.left()
readings.cover(shard, list, final, left, now_ms)
return { 'OK', integer.text(now_ms), left.cancelled, left.more and 1 or 0 }
