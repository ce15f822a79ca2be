#!lua flags=allow-oom
-- clear_book: cancels resting orders of a market in which trading has ended (CLOSED, RESOLVED, VOIDED), a bounded number
-- at a time, with reason MARKET_CLOSED. Run it until no order is left. It cancels nothing while a result can be taken back.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:o   5 {x}:bal   6 {x}:m:<id>:bal   7 {x}:exp   8 {x}:out
--          9 {x}:ending
-- ARGV     1 shard prefix `{x}:`   2 market id   3 the most orders to cancel
-- Returns  { cancelled, left }: the number of orders that this call cancelled, and 1 when others still rest
-- Emits    CANCEL
-- Bound    CLEAR_MAX orders

local agenda = require('lib.agenda')
local book = require('lib.book')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local CLEAR_MAX = 200

local shard, market, most = ARGV[1], ARGV[2], math.min(tonumber(ARGV[3]), CLEAR_MAX)

local b, now_ms = book.open(shard, market, 's'), outbox.now_ms()
if not b or b.status <= book.PAUSED or resolution.pending(b.key, now_ms) then
  return { 0, 0 }
end
local hashes = {}
for _, key in ipairs({ KEYS[2], KEYS[3] }) do
  local members = #hashes < most and redis.call('ZRANGE', key, 0, most - #hashes - 1) or {}
  for i = 1, #members do
    hashes[#hashes + 1] = members[i]:sub(book.HASH_AT)
  end
end
if #hashes > 0 then
  local resting = orders.load(shard, hashes)
  orders.retire(shard, b, resting, outbox.CANCEL, order.CANCELLED, order.REASON_MARKET_CLOSED, now_ms)
end
local left = #hashes == most and 1 or 0
-- A resolved market stays on the list until its holders are paid.
if left == 0 and b.status < book.RESOLVED then
  agenda.done(shard, market)
end
return { #hashes, left }
