#!lua flags=allow-oom
-- read_channel: reads the entries of a channel behind a place. When there are any, it also writes, because WAIT only waits for what
-- its own connection has written: a caller that sends WAIT after this knows that the replicas have all that it read.
--
-- KEYS     1 {x}:to:<b>   2 {x}:sum
-- ARGV     1 id of the last entry that the other shard took   2 the most entries   3 number of the other shard
-- Returns  { last, sent, id, entry, id, entry... }: the id of the last entry of the channel, and the collateral ever sent
-- Emits    nothing
-- Bound    ENTRIES_MAX entries

local channel = require('lib.channel')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

local ENTRIES_MAX = 100

local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', math.min(tonumber(ARGV[2]), ENTRIES_MAX))
local reply = { channel.last(KEYS[1]), redis.call('HGET', KEYS[2], 'sent:' .. ARGV[3]) or '0' }
if #found > 0 then
  redis.call('HSET', KEYS[2], 'asked', integer.text(outbox.now_ms()))
end
for i = 1, #found do
  reply[#reply + 1], reply[#reply + 2] = found[i][1], found[i][2][2]
end
return reply
