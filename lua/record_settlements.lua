#!lua
-- record_settlements: writes settlement records, each once: as CONFIRMED without a chain, as MATCHED when they wait for the
-- chain.
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out; the matches {x}:m:<id>:t and the lists of
--          the markets, which have the form of 2
-- ARGV     1 shard prefix `{x}:`   2 status code, 0 or 2   then for each record: name (lib/settlements), time of the match in
--          milliseconds, body
-- Returns  the number of records written. A record written before stays as it is; nothing is written for a match that does not
--          exist or has another taker
-- Emits    SETTLE for each
-- Bound    RECORDS_MAX of src/store/settlement/settlements.ts

local outbox = require('lib.outbox')
local settlements = require('lib.settlements')

local shard, status = ARGV[1], tonumber(ARGV[2])
local now_ms, written = outbox.now_ms(), 0

for i = 3, #ARGV, 3 do
  local name, trade_ms = ARGV[i], tonumber(ARGV[i + 1])
  local taker = settlements.taker(shard, name, trade_ms)
  local record = settlements.load(shard, name, trade_ms, taker)
  local known = record[settlements.BODY] ~= ''
  -- With paper funds a record that failed before may be settled now. A record that waits for the chain must not be put back, and
  -- one that FAILED there has ended.
  if taker == settlements.taker_in(ARGV[i + 2]) and record[settlements.STATUS] ~= settlements.CONFIRMED
    and (status == settlements.CONFIRMED or not known and record[settlements.STATUS] ~= settlements.FAILED) then
    if status == settlements.CONFIRMED then
      record[settlements.ATTEMPTS] = record[settlements.ATTEMPTS] + 1
    end
    record[settlements.BODY] = ARGV[i + 2]
    settlements.save(shard, name, record, status, now_ms)
    written = written + 1
  end
end
return written
