#!lua flags=allow-oom
-- open_log: opens the log of a wallet, or keeps it open; log_events then writes every event of the wallet into it. The caller
-- must repeat this before the log expires.
--
-- {x}:pl:<address>   stream: as in lua/lib/account_log.lua
-- {x}:pr             hash: as in lua/log_events.lua; exists while a log is open
--
-- KEYS     1 {x}:pl:<address>   2 {x}:pr   3 {x}:out
-- ARGV     1 milliseconds from now until the log expires
-- Returns  { first, last }: the log misses no event from the number `first` on; `last` is the latest number
-- Emits    nothing
-- Bound    one entry

local account_log = require('lib.account_log')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

if redis.call('HEXISTS', KEYS[2], 'logged') == 0 then
  local newest = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', '1')[1]
  local added = outbox.extent(KEYS[3])
  redis.call('HSET', KEYS[2], 'logged', newest and newest[1] or '0-0', 'seen', integer.text(added))
end
return account_log.open(KEYS[1], KEYS[2], ARGV[1])
