#!lua flags=allow-oom
-- open_home_log: open_log on an exchange of several shards. The log of a wallet is at its home, and the outbox of every shard is
-- written into it (log_shard_events). A script sees one shard alone, so the caller brings the ends of the other outboxes.
--
-- {x}:pl:<address>   stream: as in lua/lib/account_log.lua
-- {x}:pr             hash: as in src/extensions/shards/lua/log_shard_events.lua; exists while a log is open
--
-- KEYS     1 {x}:pl:<address>   2 {x}:pr
-- ARGV     1 milliseconds from now until the log expires   then for each shard, in their order: id of the last entry of its outbox,
--          and the number of entries ever added up to it, both read before this call; may be left out where the marks exist
-- Returns  { first, last } as open_log; nothing when the marks do not exist and ARGV has none: nothing changed
-- Emits    nothing
-- Bound    one entry, and a mark of each shard

local account_log = require('lib.account_log')

if redis.call('HEXISTS', KEYS[2], '0:logged') == 0 then
  if #ARGV == 1 then
    return {}
  end
  for at = 2, #ARGV, 2 do
    local shard = string.format('%d', (at - 2) / 2)
    redis.call('HSET', KEYS[2], shard .. ':logged', ARGV[at], shard .. ':seen', ARGV[at + 1])
  end
end
return account_log.open(KEYS[1], KEYS[2], ARGV[1])
