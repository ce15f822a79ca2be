#!lua
-- move_settlement: takes one settlement record to another status. A CONFIRMED record stays, but takes the hash of its
-- transaction once; a record that was SUBMITTED a short time ago is not given to a second sender. A sender's failure
-- counts while the attempt is its own: a sender that hung changes nothing of the later attempt.
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out; the matches {x}:m:<id>:t and the list of the
--          market, which has the form of 2
-- ARGV     1 shard prefix `{x}:`   2 name (lib/settlements)   3 time of the match in milliseconds   4 new status code
--          5 transaction hash (32 bytes) or nothing   6 milliseconds for which a SUBMITTED one is its sender's
--          7 the attempt that this is about, empty when none was made
-- Returns  the number of the attempt when it moved to SUBMITTED, 1 when it moved elsewhere, else 0
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
-- An attempt counts when it is made, or when it fails before it could be made.
if submits or status ~= settlements.CONFIRMED and before ~= settlements.SUBMITTED then
  record[settlements.ATTEMPTS] = record[settlements.ATTEMPTS] + 1
end
if ARGV[5] ~= '' then
  record[settlements.TRANSACTION] = ARGV[5]
end
settlements.save(shard, name, record, status, now_ms)
return submits and record[settlements.ATTEMPTS] or 1
