#!lua
-- move_settlement: moves one settlement record to another status. A CONFIRMED record keeps its status, but accepts the hash of
-- its transaction once. A record that was SUBMITTED a short time ago is not given to a second sender. A sender's failure
-- counts only for its own attempt: a sender that hung cannot change a later attempt.
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out; the matches {x}:m:<id>:t and the list of the
--          market, which has the form of 2
-- ARGV     1 shard prefix `{x}:`   2 name (lib/settlements)   3 time of the match in milliseconds   4 new status code
--          5 transaction hash (32 bytes), or empty   6 milliseconds for which a SUBMITTED record belongs to its sender
--          7 number of the attempt, empty when there was none
-- Returns  the number of the attempt when the record moved to SUBMITTED, 1 when it moved elsewhere, else 0
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
local before, since = record[settlements.STATUS], record[settlements.UPDATED]

local is_told = status == settlements.CONFIRMED and ARGV[5] ~= '' and record[settlements.TRANSACTION] == ''
if before == settlements.CONFIRMED and not is_told or before == settlements.FAILED and status == settlements.FAILED then
  return 0
end
local submits = status == settlements.SUBMITTED
if submits and before == settlements.SUBMITTED and now_ms < since + tonumber(ARGV[6]) then
  return 0
end
local failed = status == settlements.RETRYING or status == settlements.FAILED
if failed and (before == settlements.SUBMITTED or ARGV[7] ~= '') and tonumber(ARGV[7]) ~= record[settlements.ATTEMPTS] then
  return 0
end
-- An attempt counts when it starts, or when it fails before it could start.
if submits or status ~= settlements.CONFIRMED and before ~= settlements.SUBMITTED then
  record[settlements.ATTEMPTS] = record[settlements.ATTEMPTS] + 1
end
if ARGV[5] ~= '' then
  record[settlements.TRANSACTION] = ARGV[5]
end
settlements.save(shard, name, record, status, now_ms)
return submits and record[settlements.ATTEMPTS] or 1
