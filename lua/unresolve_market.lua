#!lua flags=allow-oom
-- unresolve_market: takes the result of a market back while its holders wait for their payout. A market that was closed before is
-- CLOSED again, any other is PAUSED, with the orders that rested in it. Repeating it changes nothing.
--
-- KEYS     1 {x}:m:<id>   2 {x}:out   3 {x}:ending   4 {x}:closes   5 {x}:mk
-- ARGV     1 shard prefix `{x}:`   2 market id
-- Returns  { code, nowMs, status, sequence }: OK, also for a market without a result; MARKET_NOT_FOUND; MARKET_NOT_OPEN when the
--          payout is due
-- Emits    MARKET, when the status changed
-- Bound    one market

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local shard, market = ARGV[1], ARGV[2]
local now_ms = outbox.now_ms()

local b = book.open(shard, market, resolution.FIELD)
if not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
local code = 'OK'
if b.totals[resolution.FIELD] ~= '' then
  local pending = resolution.pending(b.key, now_ms)
  if not pending then
    code = 'MARKET_NOT_OPEN'
  else
    local status = pending == book.CLOSED and book.CLOSED or book.PAUSED
    local closes_ms = agenda.closing(redis.call('HGET', KEYS[5], market), status)
    b.status, b.sequence = status, b.sequence + 1
    redis.call('HDEL', KEYS[1], resolution.FIELD, resolution.EVIDENCE, resolution.DELAY)
    book.write(b)
    agenda.note(shard, market, status, closes_ms)
    if status == book.PAUSED then
      agenda.done(shard, market)
    end
    outbox.write_market(shard, market, b.sequence, now_ms)
  end
end
return { code, integer.text(now_ms), b.status, integer.text(b.sequence) }
