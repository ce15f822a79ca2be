#!lua
-- move_settlement: notes when funds are on a chain that nothing could be built of a match: its record is RETRYING, without a body.
-- A record with a body stays as it is, and so does one that has ended: only the operator and final blocks move these. The amounts
-- of a FAILED match went back to its wallets, so it must never be sent again.
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out; the matches {x}:m:<id>:t and the list of the
--          market, which has the form of 2
-- ARGV     1 shard prefix `{x}:`   2 name (lib/settlements)   3 time of the match in milliseconds   4 status code, RETRYING
--          5 unused, empty
-- Returns  1 when the record was written, else 0
-- Emits    SETTLE, when it was written
-- Bound    one record

local outbox = require('lib.outbox')
local settlements = require('lib.settlements')

local shard, name, trade_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local taker = settlements.taker(shard, name, trade_ms)
if not taker or tonumber(ARGV[4]) ~= settlements.RETRYING then
  return 0
end
local record = settlements.load(shard, name, trade_ms, taker)
local status = record[settlements.STATUS]
if record[settlements.BODY] ~= '' or status ~= settlements.MATCHED and status ~= settlements.RETRYING then
  return 0
end
record[settlements.ATTEMPTS] = record[settlements.ATTEMPTS] + 1
settlements.save(shard, name, record, settlements.RETRYING, outbox.now_ms())
return 1
