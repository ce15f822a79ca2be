#!lua flags=allow-oom
-- cancel_absent: runs one bounded step of cancelling the open orders of a wallet that is gone (lib/walk). It cancels orders
-- older than the moment from which the wallet counts as gone. A wallet that is back keeps its orders, even if a caller had
-- listed it. The last step removes the wallet from the list.
--
-- KEYS     1 {x}:u:<address>   2 {x}:o   3 {x}:bal   4 {x}:exp   5 {x}:out   6 {x}:mode   7 {x}:away   8 {x}:lease; and, by the
--          records found, the books and token accounts of their markets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 token of the lease   4 reason code (src/exchange/status.ts)
--          5 rank and 6 number of older orders, as the previous step returned them; '0' and '0' at first
--          7 the most orders to look at
-- Returns  { code, nowMs, rank, behind, hashes, market, sequence ... } as cancel_all does; code BACK when the wallet is not gone
--          or another token holds the lease, or HALTED: nothing changed
-- Emits    CANCEL, once for each market touched
-- Bound    LOOK_MAX orders looked at, CANCEL_MAX cancelled, in MARKETS_MAX markets (lib/walk)

local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local walk = require('lib.walk')

local shard, address = ARGV[1], ARGV[2]
local now_ms = outbox.now_ms()

local gone_ms = tonumber(redis.call('ZSCORE', KEYS[7], address) or math.huge)
if gone_ms > now_ms or redis.call('GET', KEYS[8]) ~= ARGV[3] then
  return { 'BACK', integer.text(now_ms) }
end
if tonumber(redis.call('GET', KEYS[6]) or '0') == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local reply = walk.step(shard, address, ARGV[5], ARGV[6], tonumber(ARGV[7]), { '', '', '', gone_ms }, tonumber(ARGV[4]),
  now_ms)
if reply[walk.RANK_AT] == '' then
  redis.call('ZREM', KEYS[7], address)
end
return reply
