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
local names = require('lib.names')
local outbox = require('lib.outbox')
local tables = require('lib.tables')

local id, document, condition, slug, status, shard = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local event, event_title = ARGV[7], ARGV[8]
local now_ms = outbox.now_ms()

local refused, siblings = names.refusal(KEYS[3], KEYS[9], id, condition, slug, event, event_title)
if refused then
  return { refused, integer.text(now_ms), siblings }
end
local closes_ms = agenda.closing(document, tonumber(status))
-- From here on nothing may fail.
names.keep(KEYS[3], KEYS[9], id, condition, slug, event, event_title, siblings)
redis.call('HSET', KEYS[2], id, document)
redis.call('RPUSH', KEYS[8], id)
redis.call('HSET', KEYS[1], 's', book.first_state(tonumber(status), tonumber(redis.call('GET', KEYS[5]) or '0')),
  tables.FIELD, tables.FILLER)
agenda.note(shard, id, tonumber(status), closes_ms)
outbox.write_market(shard, id, 1, now_ms)
return { 'OK', integer.text(now_ms) }
