#!lua flags=allow-oom
-- publish_updates: appends updates of books to the logs of their markets, each after the update before it. Only the holder of
-- the lease may append. The log contains exactly the updates that were broadcast: the chain that clients see.
--
-- {x}:m:<id>:u   stream: <sequence>-0 -> field `u`, the update packed (src/store/outbox/book-update.ts)
--
-- KEYS     1 {x}:lease   2 {x}:readers   3... {x}:m:<id>:u, the log of each update's market; then the door
-- ARGV     1 token   2 lifetime of the lease from now, milliseconds   3 name of the reader   4 id of the last outbox entry
--          that the reader has processed   then for each update: previous sequence, sequence, 1 to restart the log or 0, update
-- Returns  OK; DEPOSED when another token holds the lease; BROKEN when a log does not end at the previous sequence. A refusal
--          changes nothing
-- Emits    nothing
-- Bound    UPDATES_MAX updates; each market keeps about WINDOW of them

local UPDATES_MAX = 100
local WINDOW = 1024

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 'DEPOSED'
end
local count = math.min(#KEYS - 3, UPDATES_MAX)
local ends = {}
for i = 1, count do
  local log, at = KEYS[2 + i], 1 + 4 * i
  if ARGV[at + 2] == '0' then
    if not ends[log] then
      local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1]
      ends[log] = last and last[1]:match('^%d+') or ARGV[at]
    end
    if ends[log] ~= ARGV[at] then
      return 'BROKEN'
    end
  end
  ends[log] = ARGV[at + 1]
end
for i = 1, count do
  local log, at = KEYS[2 + i], 1 + 4 * i
  if ARGV[at + 2] == '1' then
    redis.call('DEL', log)
  end
  redis.call('XADD', log, 'MAXLEN', '~', WINDOW, ARGV[at + 1] .. '-0', 'u', ARGV[at + 3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
return 'OK'
