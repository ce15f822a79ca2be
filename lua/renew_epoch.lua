#!lua flags=allow-oom
-- renew_epoch: names the unbroken history of this data; a new name as soon as answered writes may be missing from it.
--
-- {x}:epoch   hash: `name`; `run` and `stream`: the Redis that held the data at the last look (lib/history.lua);
--             `copied`: there once the data had a replica, or was one; `first`: there while it never had another name
--
-- KEYS     1 {x}:epoch   2 {x}:mk
-- ARGV     1 the name to take when a new one is due   2 1 when a Redis that dies may lose what it answered, else 0
--          3 the name that the caller knows, empty when it knows none
-- Returns  { name, 1 when it is the first name this data ever had, else 0 }. A new one is due when there is none yet; when
--          another run of Redis holds the data now, and the one before may have lost its latest writes or may have been
--          another copy of it; and when the same run was a replica of another in between, whose data it then has
-- Emits    nothing
-- Bound    one hash

local history = require('lib.history')

local run, stream, replication = history.holder()
local known = redis.call('HMGET', KEYS[1], 'name', 'run', 'stream', 'copied', 'first')
local name, is_first = known[1], known[5]

-- Known to a master that was a replica, and was not since it started: what its master had not sent is gone.
local took_over = not replication:find('second_repl_offset:-1', 1, true)
-- Redis keeps what it sends to replicas for an hour after the last of them: one that came and went is seen, too.
local has_copies = took_over or not replication:find('connected_slaves:0', 1, true)
  or replication:find('repl_backlog_active:1', 1, true)
if has_copies and not known[4] then
  redis.call('HSET', KEYS[1], 'copied', '1')
end

local is_broken = false
if name and known[2] ~= run then
  -- With copies of the data it is unknown which one was written to: a restart forgets that it took over.
  is_broken = has_copies or known[4] or ARGV[2] == '1'
elseif name and known[3] ~= stream then
  -- A replica of a master that never answered continues its own stream under another name, and knows the one before.
  is_broken = took_over and known[3] and replication:match('master_replid2:(%x+)') ~= known[3]
end
if not name and ARGV[3] == '' and redis.call('EXISTS', KEYS[2]) == 0 then
  is_first = '1'
  redis.call('HSET', KEYS[1], 'first', is_first)
elseif is_first and (is_broken or ARGV[3] ~= '' and ARGV[3] ~= name) then
  is_first = false
  redis.call('HDEL', KEYS[1], 'first')
end
if not name or is_broken then
  name = ARGV[1]
end
if name ~= known[1] or run ~= known[2] or stream ~= known[3] then
  redis.call('HSET', KEYS[1], 'name', name, 'run', run, 'stream', stream)
end
return { name, is_first and 1 or 0 }
