#!lua flags=allow-oom
-- mend_channel: puts a channel in the place of one that lost entries after the other shard had taken them. It begins with the entry
-- of the other shard's mark, and goes on with the entries that are still to be taken. Only while the exchange is HALTED.
--
-- KEYS     1 {x}:to:<b>   2 {x}:to:<b>:new   3 {x}:sum   4 {x}:mode
-- ARGV     1 number of the other shard   2 id of the last entry and 3 the collateral ever sent, as the caller has read them
-- Returns  OK; MODE, when the exchange is not HALTED, and MOVED, when something was sent since: nothing changed
-- Emits    nothing: no account changes
-- Bound    one rename, which frees the old stream

local book = require('lib.book')
local channel = require('lib.channel')

if tonumber(redis.call('GET', KEYS[4]) or '0') ~= book.HALTED then
  return 'MODE'
elseif channel.last(KEYS[1]) ~= ARGV[2] or (redis.call('HGET', KEYS[3], 'sent:' .. ARGV[1]) or '0') ~= ARGV[3]
  or redis.call('EXISTS', KEYS[2]) == 0 then
  return 'MOVED'
end
redis.call('RENAME', KEYS[2], KEYS[1])
return 'OK'
