#!lua flags=allow-oom
-- log_shard_events: appends the events of a range of one shard's outbox to the open logs of wallets whose home is this shard, and
-- stores the last entry of the range under the number of that shard, so each range is logged once. The lease of broadcasting
-- is in the other shard, so this script does not see it: of two callers that believe to hold it, the second one finds another
-- mark, and changes nothing.
--
-- {x}:pr   hash: for each shard k, `<k>:logged`, id of the last entry of its outbox that the logs here contain, and `<k>:seen`, the
--          number of entries ever added to it up to that one, empty when it is unknown; `gap` as in lua/log_events.lua; exists
--          while a log is open
--
-- KEYS     1 {x}:pr   2... {x}:pl:<address>, the log of each wallet; then the door
-- ARGV     1 number of the shard   2 its `logged` as the caller knows it   3 id of the last entry of the range   4 entries ever
--          added up to that one; empty when unknown   5 1 when entries of the range may have been trimmed before they were
--          read, else 0   then for each log: its events, EVENT_BYTES each, back to back
-- Returns  { BROKEN, logged } when ARGV 2 is out of date; { IDLE } when no log is open; { OK, the latest number of each log },
--          empty for a log that is not open
-- Emits    nothing
-- Bound    EVENTS_MAX events, and those of one more entry of the outbox (src/store/outbox/account-log.ts)

local account_log = require('lib.account_log')
local integer = require('lib.integer')

local logged = redis.call('HGET', KEYS[1], ARGV[1] .. ':logged')
if not logged then
  return { 'IDLE' }
elseif logged ~= ARGV[2] then
  return { 'BROKEN', logged }
end
local now_us = account_log.now_us()
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'gap', integer.text(now_us))
end
local reply = { 'OK' }
for i = 2, #KEYS - 1 do
  reply[#reply + 1] = account_log.append(KEYS[i], ARGV[4 + i], now_us)
end
redis.call('HSET', KEYS[1], ARGV[1] .. ':logged', ARGV[3], ARGV[1] .. ':seen', ARGV[4])
return reply
