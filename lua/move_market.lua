#!lua flags=allow-oom
-- move_market: moves a market to another status, if its present status allows it. Repeating it with the present status changes
-- nothing. A move because of the closing time waits until the script's clock has reached that time.
--
-- KEYS     1 {x}:m:<id>   2 {x}:out   3 {x}:closes   4 {x}:ending   5 {x}:mk
-- ARGV     1 shard prefix `{x}:`   2 market id   3 new status code   4 the status codes that allow the move, as digits
--          5 1 when the reason is the closing time
-- Returns  { code, nowMs, status, sequence }: OK, MARKET_NOT_FOUND, MARKET_NOT_OPEN when the status does not allow the move, or
--          NOT_DUE when the closing time has not come or the market has none
-- Emits    MARKET, when the status changed
-- Bound    one market

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

local shard, market, target, from, by_time = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
local now_ms = outbox.now_ms()

local b = book.open(shard, market, 's')
if not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
if by_time and not agenda.is_due(shard, market, now_ms) then
  return { 'NOT_DUE', integer.text(now_ms), b.status, integer.text(b.sequence) }
end
local code, status = 'OK', b.status
if b.status .. '' ~= target then
  if tonumber(target) <= book.PAUSED then
    status = agenda.status(shard, market, b.status, now_ms)
  end
  if not from:find(status .. '', 1, true) then
    code = 'MARKET_NOT_OPEN'
  else
    local closes_ms = agenda.closing(redis.call('HGET', KEYS[5], market), tonumber(target))
    status, b.sequence = tonumber(target), b.sequence + 1
    b.status = status
    book.write(b)
    agenda.note(shard, market, b.status, closes_ms)
    outbox.write_market(shard, market, b.sequence, now_ms)
  end
end
return { code, integer.text(now_ms), status, integer.text(b.sequence) }
