#!lua flags=allow-oom
-- open_log: opens the log of a wallet, or keeps it open; log_events then writes every event of the wallet into it. The caller
-- must repeat this before the log expires. The number of an event is its time in microseconds, or one more than the number
-- before it, so a log that is opened again never repeats a number.
--
-- {x}:pl:<address>   stream: the events of the wallet, each under its number; the first entry of a log is empty
-- {x}:pr             hash: as in lua/log_events.lua; exists while a log is open
--
-- KEYS     1 {x}:pl:<address>   2 {x}:pr   3 {x}:out
-- ARGV     1 milliseconds from now until the log expires
-- Returns  { first, last }: the log misses no event from the number `first` on; `last` is the latest number
-- Emits    nothing
-- Bound    one entry

local integer = require('lib.integer')
local outbox = require('lib.outbox')

if redis.call('HEXISTS', KEYS[2], 'logged') == 0 then
  local newest = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', '1')[1]
  local added = outbox.extent(KEYS[3])
  redis.call('HSET', KEYS[2], 'logged', newest and newest[1] or '0-0', 'seen', integer.text(added))
end
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', '1')[1]
if not oldest then
  local time = redis.call('TIME')
  oldest = { integer.text(time[1] * 1000000 + time[2]) .. '-0' }
  redis.call('XADD', KEYS[1], oldest[1], 'e', '')
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
local first = oldest[1]:match('^%d+')
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', '1')[1][1]:match('^%d+')
local gap = redis.call('HGET', KEYS[2], 'gap')
if gap and tonumber(gap) > tonumber(first) then
  first = gap
end
return { first, last }
