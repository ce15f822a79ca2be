#!lua
-- create_market: opens the books of a new market, once for each condition id, and registers its names.
--
-- KEYS     1 {x}:m:<id>   2 {x}:mk   3 {x}:mn   4 {x}:out   5 {x}:mode   6 {x}:closes   7 {x}:ending
--          8 {x}:ml   9 {x}:ev
-- ARGV     1 market id   2 JSON of terms and texts   3 condition id   4 slug   5 status code (0 DRAFT, 1 OPEN)
--          6 shard prefix `{x}:`   7 slug of its event, empty for none   8 title of the event
-- Returns  { code, nowMs }: OK; TAKEN with the name that another market has; EVENT_TITLE with the existing title of the
--          event, when it differs; EVENT_FULL
-- Emits    MARKET
-- Bound    one market

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local tables = require('lib.tables')

-- {x}:ev   hash: slug of an event -> the number of its markets, a space, its title
-- One answer lists all markets of an event (src/http/routes/markets.ts).
local EVENT_MARKETS_MAX = 50

local id, document, condition, slug, status, shard = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local event, event_title = ARGV[7], ARGV[8]
local now_ms = outbox.now_ms()

for _, name in ipairs({ condition, id, slug }) do
  if redis.call('HEXISTS', KEYS[3], name) == 1 then
    return { 'TAKEN', integer.text(now_ms), name }
  end
end
local known = event ~= '' and redis.call('HGET', KEYS[9], event) or '0 ' .. event_title
local siblings, title = known:match('^(%d+) (.*)$')
if title ~= event_title then
  return { 'EVENT_TITLE', integer.text(now_ms), title }
elseif tonumber(siblings) >= EVENT_MARKETS_MAX then
  return { 'EVENT_FULL', integer.text(now_ms), event }
end
local closes_ms = agenda.closing(document, tonumber(status))
-- From here on nothing may fail.
redis.call('HSET', KEYS[3], condition, id, id, id, slug, id)
redis.call('HSET', KEYS[2], id, document)
redis.call('RPUSH', KEYS[8], id)
if event ~= '' then
  redis.call('HSET', KEYS[9], event, integer.text(siblings + 1) .. ' ' .. event_title)
end
redis.call('HSET', KEYS[1], 's', book.first_state(tonumber(status), tonumber(redis.call('GET', KEYS[5]) or '0')),
  tables.FIELD, tables.FILLER)
agenda.note(shard, id, tonumber(status), closes_ms)
outbox.write_market(shard, id, 1, now_ms)
return { 'OK', integer.text(now_ms) }
