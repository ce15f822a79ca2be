#!lua
-- claim_market: takes the names of a new market in an exchange of several shards, and keeps what creates it in its shard.
--
-- {x}:ms   hash: market id -> number of its shard
-- {x}:mp   hash: market id -> status code, then JSON of terms and texts; until list_market
--
-- KEYS     1 {x}:dn   2 {x}:ms   3 {x}:mp   4 {x}:de
-- ARGV     1 market id   2 JSON of terms and texts   3 condition id   4 slug   5 status code (0 DRAFT, 1 OPEN)
--          6 number of its shard   7 slug of its event, empty for none   8 title of the event
-- Returns  { code, detail }: OK; CLAIMED with what is kept, when a market of this id is claimed and not listed; TAKEN with the
--          name that another market has; EVENT_TITLE with the existing title of the event, when it differs; EVENT_FULL
-- Emits    nothing
-- Bound    one market

local names = require('lib.names')

local id, document, condition, slug, status, shard = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local event, event_title = ARGV[7], ARGV[8]

local claimed = redis.call('HGET', KEYS[3], id)
if claimed then
  return { 'CLAIMED', claimed }
end
local refused, siblings = names.refusal(KEYS[1], KEYS[4], id, condition, slug, event, event_title)
if refused then
  return { refused, siblings }
end
-- From here on nothing may fail.
names.keep(KEYS[1], KEYS[4], id, condition, slug, event, event_title, siblings)
redis.call('HSET', KEYS[2], id, shard)
redis.call('HSET', KEYS[3], id, status .. document)
return { 'OK' }
