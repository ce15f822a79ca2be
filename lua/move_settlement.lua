#!lua
-- move_settlement: moves one settlement record to another status. A CONFIRMED record keeps its status, but accepts the hash of
-- its transaction once. A record that is SUBMITTED becomes only CONFIRMED here: a transaction holds it (enlist_intent).
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out; the matches {x}:m:<id>:t and the list of the
--          market, which has the form of 2
-- ARGV     1 shard prefix `{x}:`   2 name (lib/settlements)   3 time of the match in milliseconds   4 new status code
--          5 transaction hash (32 bytes), or empty
-- Returns  1 when the record moved, else 0
-- Emits    SETTLE, when it moved
-- Bound    one record

local outbox = require('lib.outbox')
local settlements = require('lib.settlements')

local shard, name, status = ARGV[1], ARGV[2], tonumber(ARGV[4])
local now_ms, trade_ms = outbox.now_ms(), tonumber(ARGV[3])
local taker = settlements.taker(shard, name, trade_ms)
if not taker then
  return 0
end
local record = settlements.load(shard, name, trade_ms, taker)
local before = record[settlements.STATUS]

local is_told = status == settlements.CONFIRMED and ARGV[5] ~= '' and record[settlements.TRANSACTION] == ''
if before == settlements.CONFIRMED and not is_told or before == settlements.FAILED and status == settlements.FAILED
  or before == settlements.SUBMITTED and status ~= settlements.CONFIRMED then
  return 0
end
if status ~= settlements.CONFIRMED then
  record[settlements.ATTEMPTS] = record[settlements.ATTEMPTS] + 1
end
if ARGV[5] ~= '' then
  record[settlements.TRANSACTION] = ARGV[5]
end
settlements.save(shard, name, record, status, now_ms)
return 1
