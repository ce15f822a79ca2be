#!lua flags=allow-oom
-- cancel_order: removes one resting order of a wallet from its book and releases its reserve, when funds are on a chain. An order
-- that is already final does not change, so repeating the command changes nothing; but lots of a filled one stay off the book
-- when their match fails.
--
-- KEYS     1 {x}:o   2 {x}:bal   3 {x}:u:<address>   4 {x}:exp   5 {x}:out; and, by the order's record, the market hash,
--          the sorted set and the token accounts of its market, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 market id that the order must belong to, or '' for any   3 address (20 bytes)
--          4 reason code (src/exchange/status.ts)   5 order hash, 32 bytes
-- Returns  the number of this command (I6) and the record as it now is, back to back, when it cancelled the order; else
--          { code, record, sequence }: OK with the record and the market's sequence, when the order was final before;
--          ORDER_NOT_FOUND when the order is not this wallet's or not in this market; HALTED
-- Emits    CANCEL, when the order was cancelled
-- Bound    one order

local batch = require('lib.batch')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local shard, hash = ARGV[1], ARGV[5]
local stored = redis.call('HGET', KEYS[1], hash)
if not stored then
  return { 'ORDER_NOT_FOUND' }
end
local created, number, kind, price, size, expiration, maker, market = struct.unpack(order.BODY, stored)
if maker ~= ARGV[3] or ARGV[2] ~= '' and ARGV[2] ~= market then
  return { 'ORDER_NOT_FOUND' }
end
local b = book.open(shard, market, 's')
if stored:byte(-1) > order.PARTIALLY_FILLED and stored:byte(-1) ~= order.CONTINUING then
  if stored:byte(-1) == order.FILLED_STATUS then
    ledger.abandon_order(shard, hash)
  end
  return { 'OK', stored, integer.text(b.sequence) }
elseif b.mode == book.HALTED then
  return { 'HALTED' }
end
local t = batch.open(b, maker, tonumber(ARGV[4]), outbox.now_ms())
local record = batch.add(t, hash, stored, created, number, kind, price, size, expiration)
local sequence = batch.write(t, shard)
return struct.pack('>I6', sequence) .. record
