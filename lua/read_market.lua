#!lua flags=no-writes
-- read_market: reads a market's hash (status, sequence, counters, levels) and its latest matches, as one consistent view.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:t   3 {x}:mk
-- ARGV     1 market id   2 the most matches to return (MATCHES_MAX)
-- Returns  { nowMs, the market's document, HGETALL of the hash, XREVRANGE of the matches }; the document is empty when the
--          market does not exist
-- Bound    MATCHES_MAX matches; as many levels as the tick allows prices

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local MATCHES_MAX = 500

local wanted = math.min(tonumber(ARGV[2]), MATCHES_MAX)
local matches = wanted > 0 and redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', wanted) or {}
return { integer.text(outbox.now_ms()), redis.call('HGET', KEYS[3], ARGV[1]) or '', redis.call('HGETALL', KEYS[1]), matches }
