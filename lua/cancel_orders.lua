#!lua flags=allow-oom
-- cancel_orders: takes resting orders of one wallet in one market out of the book and releases what they reserved.
-- Orders that are unknown, final, or another wallet's or market's are left alone; repeating it changes nothing.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:o   5 {x}:bal   6 {x}:m:<id>:bal
--          7 {x}:u:<address>   8 {x}:exp   9 {x}:out
-- ARGV     1 shard prefix `{x}:`   2 market id   3 address (20 bytes)   4 reason code (src/exchange/status.ts)
--          5 order hashes, 32 bytes each, back to back (at most CANCEL_MAX)
-- Returns  { code, nowMs, sequence, record... }: code OK or MARKET_NOT_FOUND or HALTED; `sequence` of this command, or the market's
--          when nothing was cancelled; one record per hash as it now stands, empty when it is not this wallet's
--          order in this market, and after each record 1 when this command cancelled it, else 0
-- Emits    CANCEL, when anything was cancelled
-- Bound    CANCEL_MAX orders

local book = require('lib.book')
local integer = require('lib.integer')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')

local CANCEL_MAX = 1000

local shard, market, maker, reason, packed_hashes = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local now_ms = outbox.now_ms()

local function split()
  local hashes = {}
  for at = 1, math.min(#packed_hashes, CANCEL_MAX * 32), 32 do
    hashes[#hashes + 1] = packed_hashes:sub(at, at + 31)
  end
  return hashes
end

-- The records that are this wallet's in this market, and those of them that rest. A hash named twice is one order.
local function select_resting(records)
  local resting, seen = {}, {}
  for i = 1, #records do
    local record = records[i]
    local mine = record and record[order.MAKER] == maker and record[order.MARKET] == market
    if not mine then
      records[i] = false
    elseif seen[record[order.HASH]] then
      records[i] = seen[record[order.HASH]]
    else
      seen[record[order.HASH]] = record
      if record[order.STATUS] <= order.PARTIALLY_FILLED then
        resting[#resting + 1] = record
        record.cancelled = true
      end
    end
  end
  return resting
end

local b = book.open(shard, market, 's')
if not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
if b[book.MODE] == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local hashes = split()
local records = hashes[1] and orders.load(shard, hashes) or {}
local resting = select_resting(records)
if #resting > 0 then
  orders.retire(shard, b, resting, outbox.CANCEL, order.CANCELLED, reason, now_ms)
end
local reply = { 'OK', integer.text(now_ms), integer.text(b[book.SEQUENCE]) }
for i = 1, #records do
  local record = records[i]
  reply[#reply + 1] = record and order.pack(record) or ''
  reply[#reply + 1] = record and record.cancelled and 1 or 0
end
return reply
