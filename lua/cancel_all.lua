#!lua flags=allow-oom
-- cancel_all: runs one bounded step of cancelling the open orders of a wallet, in one market or in all, of one outcome or
-- side or of any (lib/walk). Run it from the place it returns until that place is the end. At the moment of the last step none
-- of these orders is open, and each of them has a lower number in its market than the number returned for that market.
--
-- KEYS     1 {x}:u:<address>   2 {x}:o   3 {x}:bal   4 {x}:exp   5 {x}:out   6 {x}:mode; and, by the records found, the books and
--          token accounts of their markets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 market id, 4 outcome and 5 side, each '' for any
--          6 reason code (src/exchange/status.ts)   7 rank and 8 number of older orders, as the previous step returned them; '0'
--          and '0' at first   9 the most orders to look at
-- Returns  { code, nowMs, rank, behind, hashes, market, sequence, market, sequence ... }: OK; where to continue, rank
--          '' at the end; the cancelled hashes, 32 bytes each, back to back; each market touched with the number of this command
--          in it. A market named in ARGV 3 is listed with its latest number even if nothing was cancelled. Or
--          MARKET_NOT_FOUND, HALTED: nothing changed
-- Emits    CANCEL, once for each market touched
-- Bound    LOOK_MAX orders looked at, CANCEL_MAX cancelled, in MARKETS_MAX markets (lib/walk)

local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local walk = require('lib.walk')

local shard, market = ARGV[1], ARGV[3]
local now_ms = outbox.now_ms()

local b = market ~= '' and book.open(shard, market, 's')
if market ~= '' and not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
if tonumber(redis.call('GET', KEYS[6]) or '0') == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local reply = walk.step(shard, ARGV[2], ARGV[7], ARGV[8], tonumber(ARGV[9]), { market, ARGV[4], ARGV[5], 0 },
  tonumber(ARGV[6]), now_ms)
if b and not reply[walk.TOUCHED_AT] then
  reply[walk.TOUCHED_AT], reply[walk.TOUCHED_AT + 1] = market, integer.text(b.sequence)
end
return reply
