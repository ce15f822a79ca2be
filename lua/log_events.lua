#!lua flags=allow-oom
-- log_events: appends the events of a range of outbox entries to the open logs of wallets, and stores the last entry of the
-- range, so each range is logged once. While no log is open, it logs nothing.
--
-- {x}:pr   hash: `logged`, id of the last outbox entry that the logs contain; `seen`, the number of entries ever added up to
--          it, absent when it is unknown; `gap`, the number below which every log may miss events, because outbox entries
--          were trimmed before they were logged; exists while a log is open
--
-- KEYS     1 {x}:lease   2 {x}:pr   3 {x}:out   4... {x}:pl:<address>, the log of each wallet; then the door
-- ARGV     1 token of the lease   2 `logged` as the caller knows it; empty for none   3 id of the last entry of the range; empty
--          to ask whether any log is open   then for each log: its events, EVENT_BYTES each, back to back
-- Returns  { DEPOSED } when another token holds the lease; { BROKEN, logged } when ARGV 2 is out of date; { IDLE } when no log is
--          open; { HEARD } when ARGV 3 is empty: nothing changed. { OK, the latest number of each log }, empty for a log that
--          is not open
-- Emits    nothing
-- Bound    EVENTS_MAX events, and those of one more entry of the outbox (src/store/outbox/account-log.ts); each log keeps about
--          WINDOW of them (lib/account_log)

local account_log = require('lib.account_log')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return { 'DEPOSED' }
end
local logged = redis.call('HGET', KEYS[2], 'logged') or ''
if logged ~= ARGV[2] then
  return { 'BROKEN', logged }
end
if logged == '' then
  return { 'IDLE' }
elseif ARGV[3] == '' then
  return { 'HEARD' }
end

local now_us = account_log.now_us()
local added, trimmed, latest = outbox.extent(KEYS[3])

-- Whether entries after the last logged one were trimmed, or may have been.
local function is_gap()
  local seen = tonumber(redis.call('HGET', KEYS[2], 'seen') or '')
  if seen then
    return trimmed > seen
  end
  return trimmed > 0 and #redis.call('XRANGE', KEYS[3], logged, logged) == 0
end

if is_gap() then
  redis.call('HSET', KEYS[2], 'gap', integer.text(now_us))
end
local reply = { 'OK' }
for i = 4, #KEYS - 1 do
  reply[#reply + 1] = account_log.append(KEYS[i], ARGV[i], now_us)
end
redis.call('HSET', KEYS[2], 'logged', ARGV[3])
if ARGV[3] == latest then
  redis.call('HSET', KEYS[2], 'seen', integer.text(added))
else
  redis.call('HDEL', KEYS[2], 'seen')
end
return reply
