#!lua flags=allow-oom
-- resolve_market: ends a market: one outcome has won, or the market is void. Trading stops; clear_book and pay_holders do the
-- rest once the delay is over, and until then unresolve_market takes it back. Repeating it with the same result changes nothing.
--
-- KEYS     1 {x}:m:<id>   2 {x}:out   3 {x}:ending   4 {x}:closes   5 {x}:mk
-- ARGV     1 shard prefix `{x}:`   2 market id   3 outcome: 0 Yes, 1 No, 2 void
--          4 URL of the evidence; empty for none   5 milliseconds until holders are paid; 0 at once, and then nothing takes it back
-- Returns  { code, nowMs, status, sequence }: OK, MARKET_NOT_FOUND, or MARKET_NOT_OPEN for a draft or another result
-- Emits    MARKET, when the status changed
-- Bound    one market

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local shard, market, outcome = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now_ms = outbox.now_ms()

local b = book.open(shard, market, resolution.FIELD)
if not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
local code, ended = 'OK', b.totals[resolution.FIELD]
if ended ~= '' then
  code = ended:byte() == outcome and 'OK' or 'MARKET_NOT_OPEN'
elseif b.status == book.DRAFT then
  code = 'MARKET_NOT_OPEN'
else
  local delay_ms = tonumber(ARGV[5])
  if delay_ms > 0 then
    redis.call('HSET', KEYS[1], resolution.DELAY, struct.pack(resolution.DELAY_FORMAT, now_ms + delay_ms, b.status))
  end
  b.status = outcome == resolution.VOID and book.VOIDED or book.RESOLVED
  b.sequence = b.sequence + 1
  redis.call('HSET', KEYS[1], resolution.FIELD, resolution.first(outcome, now_ms, b.sets))
  if ARGV[4] ~= '' then
    redis.call('HSET', KEYS[1], resolution.EVIDENCE, ARGV[4])
  end
  book.write(b)
  agenda.note(shard, market, b.status, nil)
  outbox.write_market(shard, market, b.sequence, now_ms)
end
return { code, integer.text(now_ms), b.status, integer.text(b.sequence) }
