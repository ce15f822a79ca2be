#!lua flags=allow-oom
-- log_events: appends the events of a range of outbox entries to the open logs of wallets, and stores the last entry of the
-- range, so each range is logged once. While no log is open, it logs nothing.
--
-- {x}:pr   hash: `logged`, id of the last outbox entry that the logs contain; `gap`, the number below which every log may miss
--          events, because outbox entries were trimmed before they were logged; exists while a log is open
--
-- KEYS     1 {x}:lease   2 {x}:pr   3 {x}:out   4... {x}:pl:<address>, the log of each wallet; then the door
-- ARGV     1 token of the lease   2 `logged` as the caller knows it; empty for none   3 id of the last entry of the range; empty
--          to ask whether any log is open   then for each log: its events, EVENT_BYTES each, back to back
-- Returns  { DEPOSED } when another token holds the lease; { BROKEN, logged } when ARGV 2 is out of date; { IDLE } when no log is
--          open; { HEARD } when ARGV 3 is empty: nothing changed. { OK, the latest number of each log }, empty for a log that
--          is not open
-- Emits    nothing
-- Bound    EVENTS_MAX events, and those of one more entry of the outbox (src/store/outbox/account-log.ts); each log keeps about
--          WINDOW events
--          kept in each log

local integer = require('lib.integer')

local EVENT_BYTES = 86
local WINDOW = 1024

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

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]

-- Whether entries after the last logged one were trimmed.
local function is_gap()
  if redis.call('EXISTS', KEYS[3]) == 0 then
    return false
  end
  local info = redis.call('XINFO', 'STREAM', KEYS[3])
  for i = 1, #info, 2 do
    if info[i] == 'max-deleted-entry-id' then
      local ms, index = info[i + 1]:match('^(%d+)-(%d+)$')
      local at_ms, at_index = logged:match('^(%d+)-(%d+)$')
      ms, index, at_ms, at_index = tonumber(ms), tonumber(index), tonumber(at_ms), tonumber(at_index)
      return ms > at_ms or ms == at_ms and index > at_index
    end
  end
  return false
end

-- Returns the latest number of a log after these events.
local function append(log, events)
  local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1]
  if not newest then
    return ''
  end
  local number = math.max(tonumber(newest[1]:match('^%d+')), now_us - 1)
  for at = 1, #events, EVENT_BYTES do
    number = number + 1
    local event = events:sub(at, at + EVENT_BYTES - 1)
    redis.call('XADD', log, 'MAXLEN', '~', WINDOW, integer.text(number) .. '-0', 'e', event)
  end
  return integer.text(number)
end

if is_gap() then
  redis.call('HSET', KEYS[2], 'gap', integer.text(now_us))
end
local reply = { 'OK' }
for i = 4, #KEYS - 1 do
  reply[#reply + 1] = append(KEYS[i], ARGV[i])
end
redis.call('HSET', KEYS[2], 'logged', ARGV[3])
return reply
