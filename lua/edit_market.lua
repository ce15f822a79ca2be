#!lua
-- edit_market: replaces the document of a market, if it still is the document that the caller edited. Repeating it with the
-- document that the market has changes nothing.
--
-- KEYS     1 {x}:m:<id>   2 {x}:mk   3 {x}:out   4 {x}:closes   5 {x}:ending
-- ARGV     1 shard prefix `{x}:`   2 market id   3 the document that was edited; empty to receive the current one
--          4 the new document   5 the last status code in which this edit is allowed
-- Returns  { code, nowMs, detail }: OK; CHANGED with the current document; MARKET_NOT_FOUND; MARKET_NOT_OPEN with the status
-- Emits    MARKET, when the document changed
-- Bound    one market

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

local shard, market, before, after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local now_ms = outbox.now_ms()
local now_text = integer.text(now_ms)

local b, stored = book.open(shard, market, 's'), redis.call('HGET', KEYS[2], market)
if not b or not stored then
  return { 'MARKET_NOT_FOUND', now_text }
end
local status = agenda.status(shard, market, b.status, now_ms)
if status > tonumber(ARGV[5]) then
  return { 'MARKET_NOT_OPEN', now_text, status }
elseif stored == after then
  return { 'OK', now_text }
elseif stored ~= before then
  return { 'CHANGED', now_text, stored }
end
local closes_ms = agenda.closing(after, b.status)
-- From here on nothing may fail.
redis.call('HSET', KEYS[2], market, after)
b.sequence = b.sequence + 1
book.write(b)
agenda.note(shard, market, b.status, closes_ms)
outbox.write_market(shard, market, b.sequence, now_ms)
return { 'OK', now_text }
