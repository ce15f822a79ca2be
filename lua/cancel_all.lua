#!lua flags=allow-oom
-- cancel_all: one bounded step of cancelling every open order of a wallet, in one market or in all, perhaps of one outcome or
-- side only (lib/walk). Run it from where it ended until it says that it is at the end: at the moment of that step none of these
-- orders is open, and every one that ever was has a lower number in its market than the one told of that market.
--
-- KEYS     1 {x}:u:<address>   2 {x}:o   3 {x}:bal   4 {x}:exp   5 {x}:out   6 {x}:mode; and, by the records found, the books and
--          token accounts of their markets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 market id, 4 outcome and 5 side, each '' for any
--          6 reason code (src/exchange/status.ts)   7 rank and 8 number of older orders, as the step before told them; '0' and
--          '0' at first   9 how many orders to look at, at most
-- Returns  { code, nowMs, rank, behind, hashes, market, sequence, market, sequence ... }: OK; where to go on, rank '' at the end;
--          what was cancelled, 32 bytes each, back to back; each market touched with the number of this command in it; the
--          one market asked for also when nothing was cancelled, with its latest. Or MARKET_NOT_FOUND, HALTED: nothing changed
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
