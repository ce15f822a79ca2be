#!lua flags=allow-oom
-- cancel_orders: removes resting orders of one wallet in one market from the book and releases their reserves.
-- It skips orders that are unknown, final, or of another wallet or market. Repeating it changes nothing.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:o   5 {x}:bal   6 {x}:m:<id>:bal
--          7 {x}:u:<address>   8 {x}:exp   9 {x}:out
-- ARGV     1 shard prefix `{x}:`   2 market id   3 address (20 bytes)   4 reason code (src/exchange/status.ts)
--          5 order hashes, 32 bytes each, back to back (at most CANCEL_MAX)
-- Returns  { code, nowMs, sequence, record... }: code OK, MARKET_NOT_FOUND or HALTED; `sequence` of this command, or the market's
--          when nothing was cancelled; for each hash the record as it now is, empty when the order is not this wallet's or not in
--          this market, then 1 when this command cancelled it, else 0
-- Emits    CANCEL, when an order was cancelled
-- Bound    CANCEL_MAX orders

local batch = require('lib.batch')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local CANCEL_MAX, HASH_BYTES = 1000, 32

local shard, market, maker, packed_hashes = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local now_ms = outbox.now_ms()

local b = book.open(shard, market, 's')
if not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
if b.mode == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local wanted = math.min(#packed_hashes / HASH_BYTES, CANCEL_MAX)
local hashes = wanted > 0 and { struct.unpack(string.rep('c32', wanted), packed_hashes) } or {}
local records = wanted > 0 and redis.call('HMGET', KEYS[4], unpack(hashes, 1, wanted)) or {}
local reply, now_cancelled = { 'OK', integer.text(now_ms), '' }, {}
local t = batch.open(b, maker, tonumber(ARGV[4]), now_ms)
for i = 1, wanted do
  local hash, answer, flag = hashes[i], records[i] or '', 0
  if now_cancelled[hash] then
    -- The same hash given twice is one order.
    answer, flag = now_cancelled[hash], 1
  elseif answer ~= '' then
    local created, number, kind, price, size, expiration, owner, at = struct.unpack(order.BODY, answer)
    if owner ~= maker or at ~= market then
      answer = ''
    elseif answer:byte(-1) <= order.PARTIALLY_FILLED or answer:byte(-1) == order.CONTINUING then
      answer, flag = batch.add(t, hash, answer, created, number, kind, price, size, expiration), 1
      now_cancelled[hash] = answer
    elseif answer:byte(-1) == order.FILLED_STATUS then
      ledger.abandon_order(shard, hash)
    end
  end
  reply[2 * i + 2], reply[2 * i + 3] = answer, flag
end
if next(now_cancelled) then
  batch.write(t, shard)
end
reply[3] = integer.text(b.sequence)
return reply
