#!lua
-- create_market: opens the books of a new market, once for each condition id, and books its names.
--
-- KEYS     1 {x}:m:<id>   2 {x}:mk   3 {x}:mn   4 {x}:out   5 {x}:mode
-- ARGV     1 market id   2 JSON of terms and texts   3 condition id   4 slug   5 status code (0 DRAFT, 1 OPEN)
-- Returns  { code, nowMs }: OK, or TAKEN with the name that another market holds
-- Emits    MARKET
-- Bound    one market

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local id, document, condition, slug, status = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now_ms = outbox.now_ms()

for _, name in ipairs({ condition, id, slug }) do
  if redis.call('HEXISTS', KEYS[3], name) == 1 then
    return { 'TAKEN', integer.text(now_ms), name }
  end
end
redis.call('HSET', KEYS[3], condition, id, id, id, slug, id)
redis.call('HSET', KEYS[2], id, document)
redis.call('HSET', KEYS[1], 'st', status, 'md', redis.call('GET', KEYS[5]) or '0', 'q', '1', 'liq', '0', 'lt', '0',
  'vol', '0', 'oi', '0')
outbox.write(KEYS[4], outbox.MARKET, id, 1, now_ms, 0, {}, {}, {})
return { 'OK', integer.text(now_ms) }
