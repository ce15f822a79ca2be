#!lua flags=allow-oom
-- pay_holders: ends a resolved or void market when funds are on a chain. The holders redeem their tokens there themselves, so it
-- pays none; as with paper funds it waits until no order rests in the market.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:m:<id>:bal   5 {x}:m:<id>:paid   6 {x}:bal   7 {x}:out
--          8 {x}:ending
-- ARGV     1 shard prefix `{x}:`   2 market id   3 the most accounts to pay
-- Returns  { 0, left }: 1 while orders rest in the market
-- Emits    MARKET, once
-- Bound    one market

local agenda = require('lib.agenda')
local book = require('lib.book')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local shard, market = ARGV[1], ARGV[2]

local b = book.open(shard, market, resolution.FIELD)
local ended = b and b.totals[resolution.FIELD] or ''
if ended == '' then
  return { 0, 0 }
end
local outcome, resolved_ms, paid_ms, sets, paid, accounts = struct.unpack(resolution.FORMAT, ended)
if paid_ms > 0 then
  return { 0, 0 }
elseif redis.call('ZCARD', KEYS[2]) + redis.call('ZCARD', KEYS[3]) > 0 then
  return { 0, 1 }
end
local now_ms = outbox.now_ms()
b.sequence = b.sequence + 1
redis.call('HSET', KEYS[1], resolution.FIELD,
  struct.pack(resolution.FORMAT, outcome, resolved_ms, now_ms, sets, paid, accounts))
book.write(b)
agenda.done(shard, market)
outbox.write_market(shard, market, b.sequence, now_ms)
return { 0, 0 }
