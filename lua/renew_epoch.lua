#!lua flags=allow-oom
-- renew_epoch: names the unbroken history of this data. It takes a new name when acknowledged writes may be missing.
--
-- {x}:epoch   hash: `name`; `run` and `stream`: the Redis that held the data at the last call (lib/history.lua);
--             `copied`: exists once the data had a replica, or was one; `first`: exists while the first name is in use
--
-- KEYS     1 {x}:epoch   2 {x}:mk
-- ARGV     1 the new name, if one is needed   2 1 when a Redis that crashes may lose acknowledged writes, else 0
--          3 the name that the caller knows, empty for none
-- Returns  { name, 1 when it is the first name of this data, else 0 }. The name changes in three cases: there is none yet;
--          another run of Redis holds the data, and the run before may have lost its latest writes or may have been another
--          copy of the data; the same run was a replica of another Redis in between, whose data it now has
-- Emits    nothing
-- Bound    one hash

local history = require('lib.history')

local run, stream, replication = history.holder()
local known = redis.call('HMGET', KEYS[1], 'name', 'run', 'stream', 'copied', 'first')
local name, is_first = known[1], known[5]

-- Recognizes a master that was a replica since it started: it misses the writes that its master had not sent.
local took_over = not replication:find('second_repl_offset:-1', 1, true)
-- Redis keeps the backlog of its replicas for an hour after the last of them: this also finds a replica that has left.
local has_copies = took_over or not replication:find('connected_slaves:0', 1, true)
  or replication:find('repl_backlog_active:1', 1, true)
if has_copies and not known[4] then
  redis.call('HSET', KEYS[1], 'copied', '1')
end

local is_broken = false
if name and known[2] ~= run then
  -- With copies of the data, a restart cannot tell which copy took the writes, because a restarted master forgets its promotion.
  is_broken = has_copies or known[4] or ARGV[2] == '1'
elseif name and known[3] ~= stream then
  -- A replica of a master that never answered continues its own stream under another name, and knows the name before.
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
